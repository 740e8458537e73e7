//! Triangular matrices: the lower factor L that [`cholesky`](super::cholesky) leaves, or one of the same shape. Upper
//! triangles are not read.

use ndarray::{Array2, ArrayRef2};

use crate::Result;

/// L^-1 B in place of B, n x s, or L^-T B if `transposed`.
pub fn solve_lower(lower: &ArrayRef2<f64>, transposed: bool, b: &mut ArrayRef2<f64>) -> Result<()> {
    todo!()
}

/// L B in place of B, n x s, or L^T B if `transposed`.
pub fn multiply_lower(lower: &ArrayRef2<f64>, transposed: bool, b: &mut ArrayRef2<f64>) -> Result<()> {
    todo!()
}

/// L^-1 in place of L.
pub fn invert_lower(lower: &mut ArrayRef2<f64>) -> Result<()> {
    todo!()
}

/// (L L^T)^-1 in place of L, both triangles of it.
pub fn cholesky_inverse(lower: &mut ArrayRef2<f64>) -> Result<()> {
    todo!()
}

/// The lower triangle of scale A A^T + keep C in place of that of C, or of scale A^T A + keep C if `transposed`. A and C are
/// column-major.
pub fn symmetric_product(
    scale: f64,
    a: &ArrayRef2<f64>,
    transposed: bool,
    keep: f64,
    c: &mut ArrayRef2<f64>,
) -> Result<()> {
    todo!()
}

/// Copies the lower triangle over the upper one.
pub fn mirror_lower(a: &mut ArrayRef2<f64>) {
    todo!()
}

/// log|L L^T|, twice the sum of the logarithms of L's diagonal.
pub fn log_determinant(lower: &ArrayRef2<f64>) -> f64 {
    todo!()
}
