//! Errors of calls of a plugin.

use gpbench_abi::Status;

use crate::host_table::HostTable;

/// Error of a call of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// A parameter that the solver or learner does not take.
    #[error("{called} {what}")]
    Parameter {
        /// Name of the solver or learner.
        called: String,
        /// What is wrong, as the end of a sentence.
        what: String,
    },
    /// A function returned an error.
    #[error("{during} failed: {text}")]
    Refused {
        /// Which function.
        during: &'static str,
        /// The code.
        code: i32,
        /// The plugin's message.
        text: String,
    },
    /// A function caught a panic of its own.
    #[error("{during} panicked: {text}")]
    Panicked {
        /// Which function.
        during: &'static str,
        /// The plugin's message.
        text: String,
    },
    /// Memory was unavailable.
    #[error("{during} ran out of memory: {text}")]
    OutOfMemory {
        /// Which function.
        during: &'static str,
        /// The plugin's message.
        text: String,
    },
    /// The plugin violated the interface.
    #[error("{during} {what}")]
    Misbehaved {
        /// Which function.
        during: &'static str,
        /// What it did, as the end of a sentence.
        what: String,
    },
}

impl CallError {
    /// The error status that the function returned. `None` where the host refused a parameter or the plugin violated
    /// the interface.
    pub fn status(&self) -> Option<Status> {
        match self {
            CallError::Refused { code, .. } => Some(Status(*code)),
            CallError::Panicked { .. } => Some(Status::PANIC),
            CallError::OutOfMemory { .. } => Some(Status::OUT_OF_MEMORY),
            CallError::Parameter { .. } | CallError::Misbehaved { .. } => None,
        }
    }

    /// Whether a matrix of the plugin's own is not positive definite. A learner that has diverged may report this from
    /// any function.
    pub fn is_singular(&self) -> bool {
        self.status() == Some(Status::NOT_POSITIVE_DEFINITE)
    }

    /// Whether the plugin does not support what was asked for.
    pub fn is_unsupported(&self) -> bool {
        self.status() == Some(Status::UNSUPPORTED)
    }

    /// The error behind a status that is neither `DONE` nor, where allowed, `STOPPED`.
    pub(crate) fn new(
        during: &'static str,
        status: Status,
        host: &HostTable,
        complaint: Option<String>,
    ) -> CallError {
        let text = host.take_error();
        let text = match (text, complaint) {
            (Some(text), Some(complaint)) if !text.contains(&complaint) => format!("{text} ({complaint})"),
            (Some(text), _) => text,
            (None, Some(complaint)) => complaint,
            (None, None) => "it gave no reason".to_owned(),
        };
        match status {
            Status::PANIC => {
                let text = text.strip_prefix("panicked: ").map(str::to_owned).unwrap_or(text);
                CallError::Panicked { during, text }
            }
            Status::OUT_OF_MEMORY => CallError::OutOfMemory { during, text },
            status if status.is_error() => CallError::Refused { during, code: status.0, text },
            Status(code) => CallError::Misbehaved {
                during,
                what: format!("returned {code}, which is not one of its outcomes"),
            },
        }
    }
}
