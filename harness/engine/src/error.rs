//! Why a run cannot start or continue. A failing case is not among the reasons.

use std::io;
use std::path::PathBuf;

use gpbench_files::is_full;
use gpbench_record::{Labels, ProgramError};
use gpbench_runs::RunError;

/// Why a run cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The run folder cannot be read or written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A path cannot be made absolute.
    #[error("cannot find {}: {source}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A case failed, and there is no room on the disk. It has no row, because the full disk may be the cause.
    #[error("no room in {}: {source}; all results so far are stored: make room, then run the same again", folder.display())]
    NoRoom {
        /// The folder that has no room.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The system starts no thread to run cases on.
    #[error("the system starts no thread: {0}; raise the limit on processes, then run the same again")]
    Threads(io::Error),
    /// Two cases of a plan are the same.
    #[error("the plan contains the case {labels} twice")]
    DuplicateCase {
        /// The case's names on the axes.
        labels: Labels,
    },
    /// A case may use more memory than the machine has, beside other cases.
    #[error(
        "{labels} may use {limit} of memory, and this machine has {total}: \
         lower `memory` in its budget or --memory-limit, or run one case at a time (--jobs 1)"
    )]
    Memory {
        /// The case's names on the axes.
        labels: Labels,
        /// Its limit.
        limit: String,
        /// The machine's memory.
        total: String,
    },
    /// A plugin or the worker is not the one that was planned.
    #[error("{0}; run the same again, which makes a new plan")]
    Program(ProgramError),
    /// The worker program cannot be used.
    #[error("the worker program {} cannot be used: {reason}", path.display())]
    Worker {
        /// The program.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
}

impl From<ProgramError> for EngineError {
    fn from(error: ProgramError) -> Self {
        match error {
            ProgramError::NotCopied { folder, source, .. } if is_full(&source) => {
                Self::NoRoom { folder, source }
            }
            error => Self::Program(error),
        }
    }
}
