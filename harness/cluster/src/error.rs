//! Why a cluster run cannot start or go on.

use std::io;
use std::path::{Path, PathBuf};

use crate::limits::BadRequest;
use crate::scheduler::SchedulerError;

/// Why a cluster run cannot start or go on. A failing task is not among the reasons.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The operation, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file is not as it was written.
    #[error("{} is damaged ({reason})", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A path cannot be written into a script of the shell.
    #[error("`{text}` cannot be written into a script of the shell")]
    Unquotable {
        /// The path.
        text: String,
    },
    /// The journal cannot take a row.
    #[error("{0}")]
    Journal(String),
    /// The scheduler refuses.
    #[error(transparent)]
    Scheduler(#[from] SchedulerError),
    /// A task requests more than there is, or too little.
    #[error(transparent)]
    BadRequest(#[from] BadRequest),
}

/// Adds the operation and the path to an [`io::Error`].
pub(crate) trait Context<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, ClusterError>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, ClusterError> {
        self.map_err(|source| ClusterError::Io { action, path: path.to_owned(), source })
    }
}
