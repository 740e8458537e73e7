//! Errors of dense linear algebra.

use std::fmt;

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a function of dense linear algebra failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A matrix is not positive definite to working precision.
    NotPositiveDefinite {
        /// Order of the first leading minor that is not positive.
        minor: usize,
    },
    /// Shapes or memory layouts do not fit.
    Shape(String),
    /// A LAPACK routine failed.
    Routine(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotPositiveDefinite { minor } => write!(
                f,
                "the matrix is not positive definite: its leading minor of order {minor} is not positive"
            ),
            Error::Shape(text) | Error::Routine(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}
