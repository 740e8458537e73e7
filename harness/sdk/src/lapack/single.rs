//! The same in single precision, for preconditioners.

use cblas_sys::{
    CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, CblasRight, CblasTrans, cblas_strsm,
};
use ndarray::ArrayRef2;

use super::{LOWER, column_major, done, int, square};
use crate::error::{Error, Result};

/// Cholesky factor L of a symmetric positive definite matrix, A = L L^T, in place of A's lower
/// triangle. The upper one is not read.
pub fn cholesky(a: &mut ArrayRef2<f32>) -> Result<()> {
    let (n, ld) = square(a, "the matrix")?;
    let mut info = 0;
    // SAFETY: `a` is an n x n column-major matrix with leading dimension `ld`, borrowed mutably.
    unsafe { lapack_sys::spotrf_(&LOWER, &n, a.as_mut_ptr(), &ld, &mut info) };
    if info > 0 {
        return Err(Error::NotPositiveDefinite { minor: info as usize });
    }
    done("spotrf", info)
}

/// A L^-T in place of A, m x k, for the lower triangle L, k x k, that [`cholesky`] leaves.
pub fn divide_by_lower_transposed(a: &mut ArrayRef2<f32>, lower: &ArrayRef2<f32>) -> Result<()> {
    let (k, ldl) = square(lower, "the factor")?;
    if a.ncols() != lower.nrows() {
        let text = format!("a factor of order {} and {} columns to divide", lower.nrows(), a.ncols());
        return Err(Error::InvalidArgument(text));
    }
    let (m, lda) = (int(a.nrows(), "m")?, column_major(a, "the matrix")?);
    if a.is_empty() {
        return Ok(());
    }
    // SAFETY: `a` is m x k and `lower` k x k, both column-major with the leading dimensions given;
    // they cannot overlap, one being borrowed mutably.
    unsafe {
        cblas_strsm(
            CblasColMajor,
            CblasRight,
            CblasLower,
            CblasTrans,
            CblasNonUnit,
            m,
            k,
            1.0,
            lower.as_ptr(),
            ldl,
            a.as_mut_ptr(),
            lda,
        );
    }
    Ok(())
}

/// L^-1 B in place of B, n x s, or L^-T B if `transposed`.
pub fn solve_lower(lower: &ArrayRef2<f32>, transposed: bool, b: &mut ArrayRef2<f32>) -> Result<()> {
    let (n, ld) = square(lower, "the triangular matrix")?;
    if b.nrows() != lower.nrows() {
        let text = format!("a triangular matrix of order {} and {} rows", lower.nrows(), b.nrows());
        return Err(Error::InvalidArgument(text));
    }
    let (s, ldb) = (int(b.ncols(), "the number of columns")?, column_major(b, "the matrix")?);
    if b.is_empty() {
        return Ok(());
    }
    let trans = if transposed { CblasTrans } else { CblasNoTrans };
    // SAFETY: `lower` is n x n and `b` n x s, both column-major with the leading dimensions given; they
    // cannot overlap, one being borrowed mutably.
    unsafe {
        cblas_strsm(
            CblasColMajor,
            CblasLeft,
            CblasLower,
            trans,
            CblasNonUnit,
            n,
            s,
            1.0,
            lower.as_ptr(),
            ld,
            b.as_mut_ptr(),
            ldb,
        );
    }
    Ok(())
}
