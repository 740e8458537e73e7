//! The types of numbers of LAPACK.

use std::ffi::{c_char, c_int};

use cblas_sys::{
    CBLAS_DIAG, CBLAS_LAYOUT, CBLAS_SIDE, CBLAS_TRANSPOSE, CBLAS_UPLO, cblas_dsyrk, cblas_dtrsm, cblas_ssyrk,
    cblas_strsm,
};
use ndarray::LinalgScalar;

/// LAPACK's Cholesky factorisation.
type Potrf<E> = unsafe extern "C" fn(*const c_char, *const c_int, *mut E, *const c_int, *mut c_int);

/// BLAS's triangular solve.
type Trsm<E> = unsafe extern "C" fn(
    CBLAS_LAYOUT,
    CBLAS_SIDE,
    CBLAS_UPLO,
    CBLAS_TRANSPOSE,
    CBLAS_DIAG,
    c_int,
    c_int,
    E,
    *const E,
    c_int,
    *mut E,
    c_int,
);

/// BLAS's symmetric product.
type Syrk<E> = unsafe extern "C" fn(
    CBLAS_LAYOUT,
    CBLAS_UPLO,
    CBLAS_TRANSPOSE,
    c_int,
    c_int,
    E,
    *const E,
    c_int,
    E,
    *mut E,
    c_int,
);

/// A number in double or in single precision, with the routines for it.
pub trait Number: LinalgScalar {
    /// The number 1.
    const ONE: Self;
    /// The number -1.
    const MINUS_ONE: Self;
    /// `dpotrf` or `spotrf`.
    const POTRF: Potrf<Self>;
    /// Name of that routine.
    const POTRF_NAME: &'static str;
    /// `dtrsm` or `strsm`.
    const TRSM: Trsm<Self>;
    /// `dsyrk` or `ssyrk`.
    const SYRK: Syrk<Self>;
}

impl Number for f64 {
    const ONE: f64 = 1.0;
    const MINUS_ONE: f64 = -1.0;
    const POTRF: Potrf<f64> = lapack_sys::dpotrf_;
    const POTRF_NAME: &'static str = "dpotrf";
    const TRSM: Trsm<f64> = cblas_dtrsm;
    const SYRK: Syrk<f64> = cblas_dsyrk;
}

impl Number for f32 {
    const ONE: f32 = 1.0;
    const MINUS_ONE: f32 = -1.0;
    const POTRF: Potrf<f32> = lapack_sys::spotrf_;
    const POTRF_NAME: &'static str = "spotrf";
    const TRSM: Trsm<f32> = cblas_strsm;
    const SYRK: Syrk<f32> = cblas_ssyrk;
}
