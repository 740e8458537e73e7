//! Cholesky factorisation and triangular solves with the same bits on any number of threads.
//!
//! LAPACK divides its work by the number of threads, so its rounding depends on that number. Here a pool computes
//! pieces of fixed size, each by one single-threaded BLAS call. The factorisation is left-looking: each piece of a
//! panel is updated by one long product with all preceding columns, so that each entry is written to memory once.
//!
//! Matrices are column-major.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayRef2, Axis, ShapeBuilder, s};

use crate::{Error, Pool, Result, lapack};

/// Columns of a panel.
const PANEL: usize = 512;
/// Rows of a panel in one task.
const ROWS: usize = 256;
/// Right-hand sides in one task.
const COLUMNS: usize = 32;

const SHAPES_FIT: &str = "pieces of one matrix have fitting shapes";

/// Replaces the lower triangle of A by L with A = L L^T. The upper triangle is not read, and may be overwritten.
///
/// # Errors
/// [`Error::NotPositiveDefinite`], [`Error::Shape`].
pub fn factorise(a: &mut ArrayRef2<f64>, pool: impl Pool) -> Result<()> {
    let n = a.nrows();
    for start in (0..n).step_by(PANEL) {
        let end = n.min(start + PANEL);
        let (done, mut rest) = a.view_mut().split_at(Axis(1), start);
        let mut panel = rest.slice_mut(s![start.., ..end - start]);
        if start > 0 {
            // panel -= L[start.., ..start] L[start..end, ..start]^T
            let (left, pivots) = (done.slice(s![start.., ..]), done.slice(s![start..end, ..]));
            subtract_product(&mut panel, &left, &pivots.t(), &pool);
        }
        let (mut diagonal, mut below) = panel.split_at(Axis(0), end - start);
        lapack::cholesky(&mut diagonal).map_err(|error| match error {
            Error::NotPositiveDefinite { minor } => Error::NotPositiveDefinite { minor: start + minor },
            other => other,
        })?;
        let diagonal = diagonal.view();
        pool.for_each(below.axis_chunks_iter_mut(Axis(0), ROWS), |mut tile| {
            lapack::divide_by_lower_transposed(&mut tile, &diagonal).expect(SHAPES_FIT);
        });
    }
    Ok(())
}

/// Solves L L^T X = B in place of B.
///
/// # Panics
/// If the shapes do not fit.
pub fn solve(factor: &ArrayRef2<f64>, b: &mut ArrayRef2<f64>, pool: impl Pool) {
    pool.for_each(b.axis_chunks_iter_mut(Axis(1), COLUMNS), |mut group| {
        lapack::cholesky_solve(factor, &mut group).expect(SHAPES_FIT);
    });
}

/// Solves L X = B in place of B. Right-looking, so that L is read once, whatever the number of columns.
///
/// # Panics
/// If the shapes do not fit.
pub fn solve_lower(factor: &ArrayRef2<f64>, b: &mut ArrayRef2<f64>, pool: impl Pool) {
    let n = factor.nrows();
    for start in (0..n).step_by(PANEL) {
        let end = n.min(start + PANEL);
        let (mut solved, mut below) = b.view_mut().split_at(Axis(0), end);
        let mut panel = solved.slice_mut(s![start.., ..]);
        let diagonal = factor.slice(s![start..end, start..end]);
        pool.for_each(panel.axis_chunks_iter_mut(Axis(1), COLUMNS), |mut group| {
            lapack::solve_lower(&diagonal, false, &mut group).expect(SHAPES_FIT);
        });
        // B[end.., ..] -= L[end.., start..end] X[start..end, ..]
        subtract_product(&mut below, &factor.slice(s![end.., start..end]), &panel, &pool);
    }
}

/// The lower triangle of (L L^T)^-1, given L in the lower triangle of `factor`. Takes n^3 / 3 multiply-adds, a
/// third of those of n right-hand sides, and a second n x n array.
///
/// # Panics
/// If `factor` is not square and column-major.
pub fn inverse(factor: &ArrayRef2<f64>, pool: impl Pool) -> Array2<f64> {
    let n = factor.nrows();
    // First M = L^-1, whose columns have zeros above the diagonal.
    let mut inverse = Array2::zeros((n, n).f());
    pool.for_each(inverse.axis_chunks_iter_mut(Axis(1), ROWS).enumerate(), |(i, mut panel)| {
        let start = i * ROWS;
        let mut below = panel.slice_mut(s![start.., ..]);
        below.diag_mut().fill(1.0);
        lapack::solve_lower(&factor.slice(s![start.., start..]), false, &mut below).expect(SHAPES_FIT);
    });
    // Then M^T M, panel by panel. A panel overwrites a part of M that only earlier panels need.
    for start in (0..n).step_by(PANEL) {
        let end = n.min(start + PANEL);
        let m = inverse.view();
        let mut panel = Array2::zeros((n - start, end - start).f());
        pool.for_each(panel.axis_chunks_iter_mut(Axis(0), ROWS).enumerate(), |(i, mut tile)| {
            let from = start + i * ROWS;
            let left = m.slice(s![from.., from..from + tile.nrows()]);
            general_mat_mul(1.0, &left.t(), &m.slice(s![from.., start..end]), 0.0, &mut tile);
        });
        inverse.slice_mut(s![start.., start..end]).assign(&panel);
    }
    inverse
}

/// `target -= left right`, in tiles of `ROWS` rows.
fn subtract_product(
    target: &mut ArrayRef2<f64>,
    left: &ArrayRef2<f64>,
    right: &ArrayRef2<f64>,
    pool: &impl Pool,
) {
    let tiles = target.axis_chunks_iter_mut(Axis(0), ROWS).zip(left.axis_chunks_iter(Axis(0), ROWS));
    pool.for_each(tiles, |(mut tile, left)| {
        general_mat_mul(-1.0, &left, right, 1.0, &mut tile);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::uniform;
    use crate::layout::column_major;
    use crate::pool::Threads;

    /// More than two panels, the last one narrower.
    const N: usize = 2 * PANEL + 77;

    /// `I + G G^T / n` with uniform G.
    fn positive_definite() -> Array2<f64> {
        let g = column_major(&uniform(N, 40, 5));
        let mut a = Array2::zeros((N, N).f());
        general_mat_mul(1.0 / N as f64, &g, &g.t(), 0.0, &mut a);
        a.diag_mut().iter_mut().for_each(|entry| *entry += 1.0);
        a
    }

    #[test]
    fn panels_solve_like_the_whole_with_the_same_bits_on_any_number_of_threads() {
        let a = positive_definite();
        let x = column_major(&uniform(N, 37, 6));
        let mut b = Array2::zeros(x.dim().f());
        general_mat_mul(1.0, &a, &x, 0.0, &mut b);
        let solved = |threads: usize| {
            let (mut factor, mut b) = (a.clone(), b.clone());
            factorise(&mut factor, Threads(threads)).unwrap();
            solve(&factor, &mut b, Threads(threads));
            b
        };
        let one = solved(1);
        assert!((&one - &x).iter().all(|e| e.abs() < 1e-12));
        assert_eq!(one, solved(2));
        assert_eq!(one, solved(5));
    }

    #[test]
    fn forward_substitution_has_the_same_bits_on_any_number_of_threads() {
        let mut factor = positive_definite();
        factorise(&mut factor, Threads(2)).unwrap();
        let x = column_major(&uniform(N, COLUMNS + 5, 7));
        let mut b = x.clone();
        lapack::multiply_lower(&factor, false, &mut b).unwrap();
        let solved = |threads: usize| {
            let mut b = b.clone();
            solve_lower(&factor, &mut b, Threads(threads));
            b
        };
        let one = solved(1);
        assert!((&one - &x).iter().all(|e| e.abs() < 1e-12));
        assert_eq!(one, solved(2));
        assert_eq!(one, solved(5));
    }

    #[test]
    fn the_inverse_solves_for_the_identity_with_the_same_bits_on_any_number_of_threads() {
        let a = positive_definite();
        let mut factor = a.clone();
        factorise(&mut factor, Threads(2)).unwrap();
        let mut solved = Array2::zeros((N, N).f());
        solved.diag_mut().fill(1.0);
        solve(&factor, &mut solved, Threads(2));
        let one = inverse(&factor, Threads(1));
        for (j, column) in one.columns().into_iter().enumerate() {
            for i in j..N {
                assert!((column[i] - solved[(i, j)]).abs() < 1e-14, "({i}, {j})");
            }
        }
        assert_eq!(one, inverse(&factor, Threads(2)));
        assert_eq!(one, inverse(&factor, Threads(5)));
    }

    #[test]
    fn the_order_of_the_first_bad_minor_counts_all_panels() {
        let mut a = positive_definite();
        a[(PANEL + 9, PANEL + 9)] = -1.0;
        let error = factorise(&mut a, Threads(2)).unwrap_err();
        assert_eq!(error, Error::NotPositiveDefinite { minor: PANEL + 10 });
    }
}
