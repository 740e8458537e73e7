//! Division of a matrix by a triangle from the right.

use ndarray::ArrayRef2;

use super::{Number, column_major, int, square};
use crate::{Error, Result};

/// A R^-1 in place of A, m x k, for an upper triangular R, k x k.
pub fn divide_by_upper(a: &mut ArrayRef2<f64>, upper: &ArrayRef2<f64>) -> Result<()> {
    divide(a, upper, cblas_sys::CblasUpper, cblas_sys::CblasNoTrans)
}

/// A L^-1 in place of A, m x k, for the lower triangle L, k x k, that [`cholesky`](super::cholesky()) leaves.
pub fn divide_by_lower(a: &mut ArrayRef2<f64>, lower: &ArrayRef2<f64>) -> Result<()> {
    divide(a, lower, cblas_sys::CblasLower, cblas_sys::CblasNoTrans)
}

/// A L^-T in place of A, m x k, for the lower triangle L, k x k, that [`cholesky`](super::cholesky()) leaves.
pub fn divide_by_lower_transposed<E: Number>(a: &mut ArrayRef2<E>, lower: &ArrayRef2<E>) -> Result<()> {
    divide(a, lower, cblas_sys::CblasLower, cblas_sys::CblasTrans)
}

/// A R^-1 in place of A, where R is one triangle of `factor`, or its transpose.
fn divide<E: Number>(
    a: &mut ArrayRef2<E>,
    factor: &ArrayRef2<E>,
    triangle: cblas_sys::CBLAS_UPLO,
    transposed: cblas_sys::CBLAS_TRANSPOSE,
) -> Result<()> {
    let (k, ldr) = square(factor, "the factor")?;
    if a.ncols() != factor.nrows() {
        let text = format!("a factor of order {} and {} columns to divide", factor.nrows(), a.ncols());
        return Err(Error::Shape(text));
    }
    let (m, lda) = (int(a.nrows(), "m")?, column_major(a, "the matrix")?);
    if a.is_empty() {
        return Ok(());
    }
    // SAFETY: `a` is m x k and `factor` k x k, both column-major with the leading dimensions given;
    // they cannot overlap, one being borrowed mutably.
    unsafe {
        E::TRSM(
            cblas_sys::CblasColMajor,
            cblas_sys::CblasRight,
            triangle,
            transposed,
            cblas_sys::CblasNonUnit,
            m,
            k,
            E::ONE,
            factor.as_ptr(),
            ldr,
            a.as_mut_ptr(),
            lda,
        );
    }
    Ok(())
}
