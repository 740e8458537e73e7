//! Dense linear algebra: safe calls into the LAPACK of the system's OpenBLAS.
//!
//! For products, ndarray's `dot` and `general_mat_mul` already call the same library. The number of threads of a call
//! is a setting of the process. The harness keeps it at 1, and raises it around a solver that asks for BLAS threads.
//!
//! Matrices are column-major (`.f()`). Other layouts are an error, because a large matrix should not be copied
//! silently.

mod cholesky;
mod condition;
mod divide;
mod eigen;
mod eigen_side;
mod number;
mod qr;
mod singular;
mod sturm;
mod triangular;
mod tridiagonal;

use std::ffi::{c_char, c_int};

use ndarray::ArrayRef2;

pub use cholesky::{cholesky, cholesky_solve};
pub use condition::reciprocal_condition;
pub use divide::{divide_by_lower, divide_by_lower_transposed, divide_by_upper};
pub use eigen::symmetric_eigen;
pub use eigen_side::{EigenSide, symmetric_eigen_side};
pub use number::Number;
pub use qr::qr_upper;
pub use singular::left_singular_vectors;
pub use triangular::{
    cholesky_inverse, invert_lower, log_determinant, mirror_lower, multiply_lower, solve_lower,
    symmetric_product,
};
pub use tridiagonal::tridiagonal_eigen;

use crate::layout::leading_dimension;
use crate::{Error, Result};

const LOWER: c_char = b'L' as c_char;
const VECTORS: c_char = b'V' as c_char;

/// A number as LAPACK's integer.
fn int(value: usize, what: &str) -> Result<c_int> {
    c_int::try_from(value).map_err(|_| Error::Shape(format!("{what} = {value} is too large for LAPACK")))
}

/// Leading dimension of an array, which must be column-major: a copy of a large matrix should not be
/// made silently.
fn column_major<T>(array: &ArrayRef2<T>, what: &str) -> Result<c_int> {
    let ld = leading_dimension(array)
        .ok_or_else(|| Error::Shape(format!("{what} must be column-major: make it with `.f()`")))?;
    int(ld, "the leading dimension")
}

/// Order of a square column-major matrix, and its leading dimension.
fn square<T>(a: &ArrayRef2<T>, what: &str) -> Result<(c_int, c_int)> {
    if a.nrows() != a.ncols() {
        return Err(Error::Shape(format!("{what} is {} x {}, not square", a.nrows(), a.ncols())));
    }
    Ok((int(a.nrows(), "n")?, column_major(a, what)?))
}

/// Checks the status of a LAPACK routine. Its arguments have been checked before the call.
fn check_info(routine: &str, info: c_int) -> Result<()> {
    match info {
        0 => Ok(()),
        other => Err(Error::Routine(format!("LAPACK's {routine} returned {other}"))),
    }
}
