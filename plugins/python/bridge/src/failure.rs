//! Why a call did not end with `DONE`.

use std::io;

use gpbench_abi::Status;

use crate::frame::Wrong;

/// Result of the bridge's functions.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a call failed or stopped.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The host asks to stop, and the script has stopped.
    #[error("stopped")]
    Stopped,
    /// An error with a status of the interface.
    #[error("{1}")]
    Error(Status, String),
    /// The child broke the protocol.
    #[error("the Python process broke the protocol: {0}")]
    Protocol(#[from] Wrong),
    /// The system refused a call.
    #[error("{what}: {error}")]
    System {
        /// What was tried, as a sentence's beginning.
        what: &'static str,
        /// The system's error.
        error: io::Error,
    },
}

impl Failure {
    /// An error without a status of its own.
    pub fn new(text: impl Into<String>) -> Failure {
        Failure::Error(Status::ERROR, text.into())
    }

    /// An argument of the host's that breaks the interface.
    pub fn invalid(text: impl Into<String>) -> Failure {
        Failure::Error(Status::INVALID_ARGUMENT, text.into())
    }

    /// The status that crosses the interface.
    pub fn status(&self) -> Status {
        match self {
            Failure::Stopped => Status::STOPPED,
            Failure::Error(status, _) => *status,
            Failure::Protocol(_) | Failure::System { .. } => Status::ERROR,
        }
    }
}
