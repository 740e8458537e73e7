//! Inverses of factors and of factorised matrices.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayRef2, Axis, ShapeBuilder, s};

use super::{SHAPES_FIT, triangle};
use crate::Pool;

/// Columns of a panel, and rows of a tile: so narrow that little of a panel is above the diagonal.
fn width(n: usize) -> usize {
    (n / 8).next_multiple_of(32).clamp(32, 256)
}

/// L^-1, 0 above the diagonal, given L in the lower triangle of `factor`. Takes n^3 / 6 multiply-adds.
///
/// # Panics
/// If `factor` is not square and column-major.
pub fn inverse_lower(factor: &ArrayRef2<f64>, pool: impl Pool) -> Array2<f64> {
    invert(factor, &pool)
}

fn invert(factor: &ArrayRef2<f64>, pool: &impl Pool) -> Array2<f64> {
    let (n, width) = (factor.nrows(), width(factor.nrows()));
    let mut inverse = Array2::zeros((n, n).f());
    pool.for_each(inverse.axis_chunks_iter_mut(Axis(1), width).enumerate(), |(i, mut panel)| {
        let start = i * width;
        let mut below = panel.slice_mut(s![start.., ..]);
        below.diag_mut().fill(1.0);
        triangle::solve(&factor.slice(s![start.., start..]), &mut below).expect(SHAPES_FIT);
    });
    inverse
}

/// The lower triangle of (L L^T)^-1, given L in the lower triangle of `factor`; above it, numbers without meaning.
/// Takes n^3 / 3 multiply-adds, a third of those of n right-hand sides, and a second n x n array.
///
/// # Panics
/// As [`inverse_lower`].
pub fn inverse(factor: &ArrayRef2<f64>, pool: impl Pool) -> Array2<f64> {
    let (n, width) = (factor.nrows(), width(factor.nrows()));
    let mut inverse = invert(factor, &pool);
    // M^T M for M = L^-1, panel by panel. A panel overwrites a part of M that only earlier panels need.
    for start in (0..n).step_by(width) {
        let end = n.min(start + width);
        let m = inverse.view();
        let mut panel = Array2::zeros((n - start, end - start).f());
        pool.for_each(panel.axis_chunks_iter_mut(Axis(0), width).enumerate(), |(i, mut tile)| {
            let from = start + i * width;
            let left = m.slice(s![from.., from..from + tile.nrows()]);
            general_mat_mul(1.0, &left.t(), &m.slice(s![from.., start..end]), 0.0, &mut tile);
        });
        inverse.slice_mut(s![start.., start..end]).assign(&panel);
    }
    inverse
}
