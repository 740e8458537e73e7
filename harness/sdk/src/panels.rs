//! Products and solves with large triangles, in panels of fixed size that threads share out.
//!
//! No sum depends on the number of threads.

use gpbench_numerics::factor::{factorise, triangle};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayRef2, ArrayViewMut2, Axis, s};

use crate::{Error, Result, Workers};

/// Columns of a panel of right-hand sides.
pub const COLUMNS: usize = 256;

/// Columns of a panel of a triangle that is the result.
const TRIANGLE: usize = 128;

/// The Cholesky factor L of a symmetric matrix in place of its lower triangle. The upper triangle is neither read nor
/// written.
pub fn cholesky(a: &mut ArrayRef2<f64>, workers: Workers<'_>) -> Result<()> {
    Ok(factorise(a, workers)?)
}

/// L^-1 B in place of B.
pub fn solve(lower: &ArrayRef2<f64>, b: &mut ArrayRef2<f64>) -> Result<()> {
    Ok(triangle::solve(lower, b)?)
}

/// L^-T B in place of B.
pub fn solve_transposed(lower: &ArrayRef2<f64>, b: &mut ArrayRef2<f64>) -> Result<()> {
    Ok(triangle::solve_transposed(lower, b)?)
}

/// The lower triangle of A B^T in place of that of `out`. What is above it, up to panels' edges, is overwritten.
pub fn lower_product(a: &ArrayRef2<f64>, b: &ArrayRef2<f64>, out: &mut ArrayRef2<f64>, workers: Workers<'_>) {
    let panels = out.axis_chunks_iter_mut(Axis(1), TRIANGLE).zip(b.axis_chunks_iter(Axis(0), TRIANGLE));
    workers.for_each(panels.enumerate(), |(index, (mut out, b))| {
        let first = index * TRIANGLE;
        let mut below = out.slice_mut(s![first.., ..]);
        general_mat_mul(1.0, &a.slice(s![first.., ..]), &b.t(), 0.0, &mut below);
    });
}

/// L^-T S L^-1 in place of a symmetric S, both triangles of it.
pub fn congruence(lower: &ArrayRef2<f64>, symmetric: &mut Array2<f64>, workers: Workers<'_>) -> Result<()> {
    in_panels(symmetric.axis_chunks_iter_mut(Axis(1), COLUMNS), workers, |_, mut panel| {
        solve_transposed(lower, &mut panel)
    })?;
    // The part of a row right of the diagonal depends only on parts right of the diagonal.
    in_panels(symmetric.axis_chunks_iter_mut(Axis(0), TRIANGLE), workers, |index, mut panel| {
        let first = index * TRIANGLE;
        Ok(triangle::divide(&mut panel.slice_mut(s![.., first..]), &lower.slice(s![first.., first..]))?)
    })?;
    mirror_upper(symmetric.view_mut());
    Ok(())
}

/// Calls `work` on each panel, and returns the first panel's error.
pub fn in_panels<'p>(
    panels: impl Iterator<Item = ArrayViewMut2<'p, f64>>,
    workers: Workers<'_>,
    work: impl Fn(usize, ArrayViewMut2<'p, f64>) -> Result<()> + Sync,
) -> Result<()> {
    let panels: Vec<_> = panels.collect();
    let mut outcomes = vec![Ok(()); panels.len()];
    workers.for_each(panels.into_iter().zip(&mut outcomes).enumerate(), |(index, (panel, outcome))| {
        *outcome = work(index, panel);
    });
    outcomes.into_iter().collect::<Result<(), Error>>()
}

/// Copies the upper triangle over the lower one, by tiles that stay in the cache.
pub fn mirror_upper(mut a: ArrayViewMut2<'_, f64>) {
    const TILE: usize = 32;
    let n = a.nrows();
    for right in (0..n).step_by(TILE) {
        for top in (0..=right).step_by(TILE) {
            for j in right..(right + TILE).min(n) {
                for i in top..(top + TILE).min(j) {
                    a[[j, i]] = a[[i, j]];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use gpbench_testing::scattered;
    use ndarray::ShapeBuilder;

    use super::*;

    fn column_major(shape: (usize, usize), entry: impl FnMut((usize, usize)) -> f64) -> Array2<f64> {
        Array2::from_shape_fn(shape.f(), entry)
    }

    /// A triangle with a large diagonal, so that errors are rounding errors, and with arbitrary numbers above it.
    fn triangle(n: usize) -> (Array2<f64>, Array2<f64>) {
        let clean = column_major((n, n), |(i, j)| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 2.0 + scattered(i, j),
            std::cmp::Ordering::Greater => (scattered(i, j) - 0.5) / n as f64,
        });
        let mut dirty = clean.clone();
        dirty.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, entry)| *entry = f64::NAN);
        (clean, dirty)
    }

    fn distance(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
        (a - b).iter().fold(0.0, |most, difference| most.max(difference.abs()))
    }

    #[test]
    fn factors_are_those_of_lapack_on_any_number_of_threads() {
        for n in [1, 100, 128, 129, 300] {
            let clean = triangle(n).0;
            let whole = clean.dot(&clean.t());
            let results = [1, 2, 3].map(|threads| {
                let mut factor = column_major((n, n), |(i, j)| if i < j { 7.0 } else { whole[[i, j]] });
                cholesky(&mut factor, Workers::new(threads)).unwrap();
                factor
            });
            let expected = column_major((n, n), |(i, j)| if i < j { 7.0 } else { clean[[i, j]] });
            assert!(distance(&results[0], &expected) < 1e-13, "{n}");
            assert_eq!(results[0], results[1]);
            assert_eq!(results[0], results[2]);
        }
        let mut indefinite = column_major((200, 200), |(i, j)| if i != j { 0.0 } else { 150.5 - i as f64 });
        let error = cholesky(&mut indefinite, Workers::new(2)).unwrap_err();
        assert_eq!(error, Error::NotPositiveDefinite { minor: 152 });
    }

    #[test]
    fn triangular_results_are_those_of_whole_matrices_on_any_number_of_threads() {
        for n in [3, 129, 300] {
            let (a, b) = (
                column_major((n, 9), |(i, j)| scattered(i, j)),
                column_major((n, 9), |(i, j)| scattered(j, i)),
            );
            let (clean, dirty) = triangle(n);
            let whole = column_major((n, n), |(i, j)| scattered(i.min(j), i.max(j)));
            let results = [1, 2, 3].map(|threads| {
                let mut product = column_major((n, n), |_| 0.0);
                lower_product(&a, &b, &mut product, Workers::new(threads));
                product.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, entry)| *entry = 0.0);
                let mut symmetric = whole.clone();
                congruence(&dirty, &mut symmetric, Workers::new(threads)).unwrap();
                (product, symmetric)
            });
            let mut expected = a.dot(&b.t());
            expected.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, entry)| *entry = 0.0);
            assert!(distance(&results[0].0, &expected) < 1e-13);
            assert!(distance(&clean.t().dot(&results[0].1).dot(&clean), &whole) < 1e-12);
            assert_eq!(results[0].1, results[0].1.t());
            assert_eq!(results[0], results[1]);
            assert_eq!(results[0], results[2]);
        }
    }
}
