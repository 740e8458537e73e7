//! Tall matrices, n x k with k far below n, split into tiles of rows for several threads.
//!
//! Tiles have a fixed height, and partial sums are added in order, so that results do not depend on the number of
//! threads.

use gpbench_numerics::factor::multiply_alone;
use ndarray::{Array2, ArrayRef2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder};

use crate::{Result, Workers, lapack};

/// Rows of a tile.
const ROWS: usize = 512;

/// The tiles of a matrix.
pub fn tiles(a: &ArrayRef2<f64>) -> impl Iterator<Item = ArrayView2<'_, f64>> {
    a.axis_chunks_iter(Axis(0), ROWS)
}

/// The tiles of a matrix that is written to.
pub fn tiles_mut(a: &mut ArrayRef2<f64>) -> impl Iterator<Item = ArrayViewMut2<'_, f64>> {
    a.axis_chunks_iter_mut(Axis(0), ROWS)
}

/// Number of tiles of a matrix of n rows.
pub fn count(n: usize) -> usize {
    n.div_ceil(ROWS)
}

/// A^T B.
pub fn product(a: &ArrayRef2<f64>, b: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
    let parts = workers.map(tiles(a).zip(tiles(b)), |(a, b)| {
        let mut part = Array2::zeros((a.ncols(), b.ncols()).f());
        multiply_alone(1.0, &a.t(), &b, 0.0, &mut part);
        part
    });
    let mut sum = Array2::zeros((a.ncols(), b.ncols()).f());
    parts.iter().for_each(|part| sum += part);
    sum
}

/// C += scale A B, for a tall A, n x k, and a small B, k x s.
pub fn add_product(
    scale: f64,
    a: &ArrayRef2<f64>,
    b: &ArrayRef2<f64>,
    c: &mut ArrayRef2<f64>,
    workers: Workers<'_>,
) {
    workers.for_each(tiles_mut(c).zip(tiles(a)), |(mut c, a)| {
        multiply_alone(scale, &a, b, 1.0, &mut c);
    });
}

/// The columns `order` of A, times L^-T for a lower triangle L.
pub fn divide(
    a: &ArrayRef2<f64>,
    order: &[usize],
    lower: &ArrayRef2<f64>,
    workers: Workers<'_>,
) -> Result<Array2<f64>> {
    let mut divided = Array2::zeros((a.nrows(), order.len()).f());
    let outcomes = workers.map(tiles_mut(&mut divided).zip(tiles(a)), |(mut tile, a)| {
        order.iter().zip(tile.columns_mut()).for_each(|(&j, mut column)| column.assign(&a.column(j)));
        Ok(lapack::divide_by_lower_transposed(&mut tile, lower)?)
    });
    outcomes.into_iter().collect::<Result<()>>()?;
    Ok(divided)
}

#[cfg(test)]
mod tests {
    use gpbench_testing::scattered;

    use super::*;

    /// Over several tiles and partial ones, for one column and several.
    #[test]
    fn products_have_the_same_bits_on_any_number_of_threads() {
        let columns = |n: usize, s: usize, seed: usize| {
            Array2::from_shape_fn((n, s).f(), |(i, j)| scattered(i, j + seed))
        };
        for (n, k, s) in [(1, 1, 1), (513, 7, 1), (1300, 33, 2), (1300, 1, 1)] {
            let (a, b, c) = (columns(n, k, 0), columns(n, s, 50), columns(k, s, 90));
            let [one, three] = [1, 3].map(|threads| {
                let workers = Workers::new(threads);
                let mut sum = b.clone();
                add_product(-2.0, &a, &c, &mut sum, workers);
                (product(&a, &b, workers), sum)
            });
            let close = |found: &Array2<f64>, expected: Array2<f64>| {
                (found - &expected).iter().all(|difference| difference.abs() < 1e-11)
            };
            assert!(close(&one.0, a.t().dot(&b)), "{n} x {k} and {n} x {s}");
            assert!(close(&one.1, &b - 2.0 * a.dot(&c)), "{n} x {k} and {k} x {s}");
            assert_eq!(one, three);
        }
    }
}
