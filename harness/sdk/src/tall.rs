//! Tall matrices, n x k with k far below n, split into tiles of rows for several threads.
//!
//! Tiles have a fixed height, and partial sums are added in order, so that results do not depend on the number of
//! threads.

use ndarray::linalg::general_mat_mul;
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
    let mut parts = vec![Array2::zeros((0, 0)); count(a.nrows())];
    workers.for_each(parts.iter_mut().zip(tiles(a)).zip(tiles(b)), |((part, a), b)| {
        *part = Array2::zeros((a.ncols(), b.ncols()).f());
        general_mat_mul(1.0, &a.t(), &b, 0.0, part);
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
        general_mat_mul(scale, &a, b, 1.0, &mut c);
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
    let mut outcomes: Vec<Result<()>> = (0..count(a.nrows())).map(|_| Ok(())).collect();
    let work = tiles_mut(&mut divided).zip(tiles(a)).zip(&mut outcomes);
    workers.for_each(work, |((mut tile, a), outcome)| {
        order.iter().zip(tile.columns_mut()).for_each(|(&j, mut column)| column.assign(&a.column(j)));
        *outcome = lapack::divide_by_lower_transposed(&mut tile, lower).map_err(Into::into);
    });
    outcomes.into_iter().collect::<Result<()>>()?;
    Ok(divided)
}
