//! Dense linear algebra for solvers: safe calls into the LAPACK of the OpenBLAS that the host uses.
//!
//! For products, ndarray's `dot` and `general_mat_mul` already call the same library. The host decides how many
//! threads a call uses, see
//! [`Capabilities::BLAS_THREADS`](crate::Capabilities::BLAS_THREADS).

mod condition;
mod eigen_below;
mod number;
mod sturm;
mod triangular;

use std::ffi::{c_char, c_int};

use ndarray::{Array1, Array2, ArrayRef2};

pub use condition::reciprocal_condition;
pub use eigen_below::symmetric_eigen_below;
pub use number::Number;
pub use triangular::{
    cholesky_inverse, invert_lower, log_determinant, mirror_lower, multiply_lower, solve_lower,
    symmetric_product,
};

use crate::error::{Error, Result};
use gpbench_numerics::layout::leading_dimension;

const LOWER: c_char = b'L' as c_char;
const VECTORS: c_char = b'V' as c_char;

/// A number as LAPACK's integer.
fn int(value: usize, what: &str) -> Result<c_int> {
    c_int::try_from(value)
        .map_err(|_| Error::InvalidArgument(format!("{what} = {value} is too large for LAPACK")))
}

/// Leading dimension of an array, which must be column-major: a copy of a large matrix should not be
/// made silently.
fn column_major<T>(array: &ArrayRef2<T>, what: &str) -> Result<c_int> {
    let ld = leading_dimension(array)
        .ok_or_else(|| Error::InvalidArgument(format!("{what} must be column-major: make it with `.f()`")))?;
    int(ld, "the leading dimension")
}

/// Order of a square column-major matrix, and its leading dimension.
fn square<T>(a: &ArrayRef2<T>, what: &str) -> Result<(c_int, c_int)> {
    if a.nrows() != a.ncols() {
        return Err(Error::InvalidArgument(format!("{what} is {} x {}, not square", a.nrows(), a.ncols())));
    }
    Ok((int(a.nrows(), "n")?, column_major(a, what)?))
}

/// Checks the status of a LAPACK routine. Its arguments have been checked before the call.
fn done(routine: &str, info: c_int) -> Result<()> {
    match info {
        0 => Ok(()),
        other => Err(Error::Failed(format!("LAPACK's {routine} returned {other}"))),
    }
}

/// Cholesky factor L of a symmetric positive definite matrix, A = L L^T, in place of A's lower
/// triangle. The upper one is not read.
pub fn cholesky<E: Number>(a: &mut ArrayRef2<E>) -> Result<()> {
    let (n, ld) = square(a, "the matrix")?;
    let mut info = 0;
    // SAFETY: `a` is an n x n column-major matrix with leading dimension `ld`, borrowed mutably.
    unsafe { E::POTRF(&LOWER, &n, a.as_mut_ptr(), &ld, &mut info) };
    if info > 0 {
        return Err(Error::NotPositiveDefinite { minor: info as usize });
    }
    done(E::POTRF_NAME, info)
}

/// Solves L L^T X = B in place of B, with the lower triangle L that [`cholesky`] leaves.
pub fn cholesky_solve(factor: &ArrayRef2<f64>, b: &mut ArrayRef2<f64>) -> Result<()> {
    let (n, ld) = square(factor, "the factor")?;
    if b.nrows() != factor.nrows() {
        let text = format!("a factor of order {} and {} rows to solve for", factor.nrows(), b.nrows());
        return Err(Error::InvalidArgument(text));
    }
    let (s, ldb) =
        (int(b.ncols(), "the number of right-hand sides")?, column_major(b, "the right-hand side")?);
    let mut info = 0;
    // SAFETY: `factor` is n x n and `b` n x s, both column-major with the leading dimensions given;
    // they cannot overlap, one being borrowed mutably.
    unsafe {
        lapack_sys::dpotrs_(&LOWER, &n, &s, factor.as_ptr(), &ld, b.as_mut_ptr(), &ldb, &mut info);
    }
    done("dpotrs", info)
}

/// The upper triangular factor R, k x k, of A = Q R for an m x k matrix with m >= k. Overwrites A.
pub fn qr_upper(a: &mut ArrayRef2<f64>) -> Result<Array2<f64>> {
    let (rows, k) = a.dim();
    if rows < k {
        return Err(Error::InvalidArgument(format!("a QR factor of a {rows} x {k} matrix, wider than high")));
    }
    let (m, n, ld) = (int(rows, "m")?, int(k, "k")?, column_major(a, "the matrix")?);
    // 64 columns at a time is the block size that LAPACK asks for.
    let length = int((64 * k).max(1), "the work space")?;
    let mut work = vec![0.0; length as usize];
    let mut tau = vec![0.0; k.max(1)];
    let mut info = 0;
    // SAFETY: `a` is m x n, column-major with leading dimension `ld`, borrowed mutably; `tau` holds
    // min(m, n) = k and `work` `length` >= n numbers.
    unsafe {
        lapack_sys::dgeqrf_(
            &m,
            &n,
            a.as_mut_ptr(),
            &ld,
            tau.as_mut_ptr(),
            work.as_mut_ptr(),
            &length,
            &mut info,
        );
    }
    done("dgeqrf", info)?;
    let mut upper = Array2::zeros(ndarray::ShapeBuilder::f((k, k)));
    for j in 0..k {
        for i in 0..=j {
            upper[[i, j]] = a[[i, j]];
        }
    }
    Ok(upper)
}

/// Eigenvalues, ascending, and eigenvectors of a symmetric matrix, whose upper triangle is not
/// read. The eigenvectors replace the matrix, in columns of norm 1.
pub fn symmetric_eigen(a: &mut ArrayRef2<f64>) -> Result<Array1<f64>> {
    let (n, ld) = square(a, "the matrix")?;
    let mut values = Array1::zeros(a.nrows());
    // Work space of divide and conquer with eigenvectors, for a block size of 64.
    let k = a.nrows();
    let length = int(1 + 6 * k + 2 * k * k + 64 * k, "the work space")?;
    let integers = int(3 + 5 * k, "the integer work space")?;
    let (mut work, mut iwork) = (vec![0.0; length as usize], vec![0; integers as usize]);
    let mut info = 0;
    // SAFETY: `a` is an n x n column-major matrix with leading dimension `ld`, borrowed mutably; `values`
    // holds n numbers, and the work spaces are as large as they are said to be, which is enough.
    unsafe {
        lapack_sys::dsyevd_(
            &VECTORS,
            &LOWER,
            &n,
            a.as_mut_ptr(),
            &ld,
            values.as_mut_ptr(),
            work.as_mut_ptr(),
            &length,
            iwork.as_mut_ptr(),
            &integers,
            &mut info,
        );
    }
    if info > 0 {
        return Err(Error::Failed("LAPACK's dsyevd found no eigenvalues: is the matrix finite?".into()));
    }
    done("dsyevd", info)?;
    Ok(values)
}

/// A R^-1 in place of A, m x k, for an upper triangular R, k x k.
pub fn divide_by_upper(a: &mut ArrayRef2<f64>, upper: &ArrayRef2<f64>) -> Result<()> {
    divide(a, upper, cblas_sys::CblasUpper, cblas_sys::CblasNoTrans)
}

/// A L^-1 in place of A, m x k, for the lower triangle L, k x k, that [`cholesky`] leaves.
pub fn divide_by_lower(a: &mut ArrayRef2<f64>, lower: &ArrayRef2<f64>) -> Result<()> {
    divide(a, lower, cblas_sys::CblasLower, cblas_sys::CblasNoTrans)
}

/// A L^-T in place of A, m x k, for the lower triangle L, k x k, that [`cholesky`] leaves.
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
        return Err(Error::InvalidArgument(text));
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

#[cfg(test)]
mod tests {
    use ndarray::{Array2, ShapeBuilder, array};

    use super::*;

    fn close(a: &Array2<f64>, b: &Array2<f64>) {
        assert!((a - b).iter().all(|difference| difference.abs() < 1e-12), "{a} against {b}");
    }

    fn column_major_copy(a: &Array2<f64>) -> Array2<f64> {
        let mut copy = Array2::zeros(a.dim().f());
        copy.assign(a);
        copy
    }

    #[test]
    fn cholesky_solves() {
        let a = array![[4.0, 2.0, 0.5], [2.0, 5.0, 1.0], [0.5, 1.0, 3.0]];
        let x = array![[1.0, -1.0], [2.0, 0.5], [-3.0, 4.0]];
        let mut factor = column_major_copy(&a);
        cholesky(&mut factor).unwrap();
        let mut b = column_major_copy(&a.dot(&x));
        cholesky_solve(&factor, &mut b).unwrap();
        close(&b, &x);
        // A L^-T = L
        let mut divided = column_major_copy(&a);
        divide_by_lower_transposed(&mut divided, &factor).unwrap();
        close(&divided.dot(&divided.t()), &a);
        // (A L^-T) L^-1 = I
        let mut whole = column_major_copy(&a);
        divide_by_lower_transposed(&mut whole, &factor).unwrap();
        divide_by_lower(&mut whole, &factor).unwrap();
        close(&whole, &Array2::eye(3));
    }

    #[test]
    fn eigenvectors_are_stretched_by_their_eigenvalues() {
        let a = array![[4.0, 2.0, 0.5], [2.0, 5.0, 1.0], [0.5, 1.0, 3.0]];
        let mut vectors = column_major_copy(&a);
        // The upper triangle is not read.
        vectors[[0, 2]] = f64::NAN;
        let values = symmetric_eigen(&mut vectors).unwrap();
        assert!(values[0] < values[1] && values[1] < values[2]);
        close(&a.dot(&vectors), &(&vectors * &values));
        close(&vectors.t().dot(&vectors), &Array2::eye(3));
    }

    #[test]
    fn an_indefinite_matrix_names_its_minor() {
        let mut a = column_major_copy(&array![[1.0, 0.0], [0.0, -1.0]]);
        assert_eq!(cholesky(&mut a), Err(Error::NotPositiveDefinite { minor: 2 }));
    }

    #[test]
    fn a_row_major_matrix_is_refused() {
        let mut a = array![[4.0, 2.0], [2.0, 5.0]];
        assert!(cholesky(&mut a).unwrap_err().to_string().contains("column-major"));
    }

    #[test]
    fn qr_and_division_give_orthonormal_columns() {
        let a = column_major_copy(&array![[1.0, 2.0], [3.0, -1.0], [0.0, 4.0], [2.0, 2.0]]);
        let upper = qr_upper(&mut a.clone()).unwrap();
        let mut q = a;
        divide_by_upper(&mut q, &upper).unwrap();
        close(&q.t().dot(&q), &Array2::eye(2));
    }
}
