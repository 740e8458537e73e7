//! Errors of a solver, and stopping, which is no failure but is passed on in the same way.

use gpbench_abi::Status;

/// Result of the SDK's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed or stopped.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The host asks to stop: the budget is spent or the user has cancelled.
    ///
    /// Not a failure. It is an error variant so that `?` passes it out of a solver's loops. If
    /// [`solve`](crate::Solver::solve) returns it, the report is [`Reason::Stopped`](crate::Reason::Stopped), and
    /// `x` is the solution.
    #[error("the host asks to stop")]
    Stopped,
    /// An error that no other variant names.
    #[error("{0}")]
    Failed(String),
    /// An argument has a wrong shape or is out of range.
    #[error("{0}")]
    InvalidArgument(String),
    /// Memory could not be allocated.
    #[error("out of memory: {bytes} bytes for {what}")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
        /// Their purpose.
        what: &'static str,
    },
    /// A matrix that has to be positive definite is not, to working precision.
    #[error("the matrix is not positive definite: its leading minor of order {minor} is not positive")]
    NotPositiveDefinite {
        /// Order of the first leading minor that is not positive.
        minor: usize,
    },
    /// The host, or the solver or learner, lacks what is needed.
    #[error("{0}")]
    Unsupported(String),
    /// A call to the host failed.
    #[error("the host's `{call}` failed with status {status}")]
    Host {
        /// Function called.
        call: &'static str,
        /// Status that it returned.
        status: i32,
    },
}

impl Error {
    /// An error with a text of its own.
    pub fn new(text: impl Into<String>) -> Error {
        Error::Failed(text.into())
    }

    /// The code that crosses the interface.
    pub(crate) fn status(&self) -> Status {
        match self {
            Error::Stopped => Status::STOPPED,
            Error::Failed(_) => Status::ERROR,
            Error::InvalidArgument(_) => Status::INVALID_ARGUMENT,
            Error::OutOfMemory { .. } => Status::OUT_OF_MEMORY,
            Error::NotPositiveDefinite { .. } => Status::NOT_POSITIVE_DEFINITE,
            Error::Unsupported(_) => Status::UNSUPPORTED,
            Error::Host { status, .. } => Status(*status),
        }
    }

    /// Reads what a call to the host returned.
    pub(crate) fn check(call: &'static str, status: Status) -> Result<()> {
        match status {
            Status::DONE => Ok(()),
            Status::STOPPED => Err(Error::Stopped),
            // A positive code that this call does not define is an error.
            other if !other.is_error() => {
                Err(Error::Failed(format!("the host's `{call}` returned the unknown status {}", other.0)))
            }
            other => Err(Error::Host { call, status: other.0 }),
        }
    }
}

impl From<gpbench_numerics::Error> for Error {
    fn from(error: gpbench_numerics::Error) -> Error {
        match error {
            gpbench_numerics::Error::NotPositiveDefinite { minor } => Error::NotPositiveDefinite { minor },
            gpbench_numerics::Error::Shape(text) => Error::InvalidArgument(text),
            gpbench_numerics::Error::Routine(text) => Error::Failed(text),
        }
    }
}
