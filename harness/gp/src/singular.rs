//! The error of a matrix that is not positive definite.

use gpbench_numerics::Error;

/// A matrix is not positive definite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the leading minor of order {order} is not positive definite")]
pub struct NotPositiveDefinite {
    /// Order of the first leading minor that is not positive.
    pub order: usize,
}

impl NotPositiveDefinite {
    /// The error of a factorisation.
    ///
    /// # Panics
    /// Where shapes did not fit, which is a fault of the caller.
    pub(crate) fn of(error: Error) -> NotPositiveDefinite {
        match error {
            Error::NotPositiveDefinite { minor } => NotPositiveDefinite { order: minor },
            other => panic!("{other}"),
        }
    }
}
