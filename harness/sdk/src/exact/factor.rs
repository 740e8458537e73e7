//! Cholesky factors on the host's threads.
//!
//! LAPACK's own threads would split the work by their number, so that rounding would depend on the machine. Here
//! pieces of fixed size are shared out, with one single-threaded BLAS call each.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayRef2, Axis, s};

use crate::{Error, Result, Workers, lapack};

/// Columns that are factorised together.
const PANEL: usize = 512;

/// Rows of a panel that are worked on together.
const ROWS: usize = 256;

/// Right-hand sides that are solved for together.
const COLUMNS: usize = 32;

/// A = L L^T, in place of A's lower triangle, for a column-major A. The upper triangle is not read, and may be overwritten.
///
/// Left-looking: all earlier columns are applied to a panel at once, so that each entry is written once.
pub fn factorise(a: &mut ArrayRef2<f64>, workers: Workers<'_>) -> Result<()> {
    let n = a.nrows();
    for start in (0..n).step_by(PANEL) {
        let end = n.min(start + PANEL);
        let (done, mut rest) = a.view_mut().split_at(Axis(1), start);
        let mut panel = rest.slice_mut(s![start.., ..end - start]);
        if start > 0 {
            // panel -= L[start.., ..start] L[start..end, ..start]^T
            let (left, pivots) = (done.slice(s![start.., ..]), done.slice(s![start..end, ..]));
            let tiles = panel.axis_chunks_iter_mut(Axis(0), ROWS).zip(left.axis_chunks_iter(Axis(0), ROWS));
            workers.for_each(tiles, |(mut tile, left)| {
                general_mat_mul(-1.0, &left, &pivots.t(), 1.0, &mut tile);
            });
        }
        let (mut diagonal, mut below) = panel.split_at(Axis(0), end - start);
        lapack::cholesky(&mut diagonal).map_err(|error| match error {
            Error::NotPositiveDefinite { minor } => Error::NotPositiveDefinite { minor: start + minor },
            other => other,
        })?;
        let diagonal = diagonal.view();
        workers.for_each(below.axis_chunks_iter_mut(Axis(0), ROWS), |mut tile| {
            lapack::divide_by_lower_transposed(&mut tile, &diagonal).expect(SHAPES_FIT);
        });
    }
    Ok(())
}

/// Solves L L^T X = B in place of a column-major B.
///
/// # Panics
/// If the shapes do not fit.
pub fn solve(factor: &ArrayRef2<f64>, b: &mut ArrayRef2<f64>, workers: Workers<'_>) {
    workers.for_each(b.axis_chunks_iter_mut(Axis(1), COLUMNS), |mut group| {
        lapack::cholesky_solve(factor, &mut group).expect(SHAPES_FIT);
    });
}

const SHAPES_FIT: &str = "pieces of one matrix have fitting shapes";
