//! Why a run folder cannot be read, written or found.

use std::io;
use std::path::{Path, PathBuf};

use gpbench_files::{Holder, is_full};
use gpbench_record::SCHEMA;

use crate::layout::{LATEST, PUBLISHED};
use crate::pack::PackFault;

/// Why a run folder cannot be read, written or found.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file operation failed.
    #[error("cannot {action} {}: {source}{}", path.display(), what_a_full_disk_needs(source))]
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
    /// Another process is running in the folder.
    #[error(
        "{} is in use by another gpbench{}; wait for it, or start a new folder with --fresh",
        folder.display(), known_holder(holder.as_ref())
    )]
    Busy {
        /// The run folder.
        folder: PathBuf,
        /// That process, where it is known.
        holder: Option<Holder>,
    },
    /// This process was stopped for so long that another one has taken over the folder.
    #[error(
        "{} was taken over by another gpbench{} while this one stood still; its last row is not written, and the other runs the case again",
        folder.display(), known_holder(holder.as_ref())
    )]
    LockLost {
        /// The run folder.
        folder: PathBuf,
        /// The other process, where it is known.
        holder: Option<Holder>,
    },
    /// Another program has removed or replaced the journal while cases ran. The last row is in the file that has its name now.
    #[error(
        "another program has removed or replaced {}: rows of this run may be lost; run the same again, which runs their cases again",
        path.display()
    )]
    JournalReplaced {
        /// The journal.
        path: PathBuf,
    },
    /// A later version of gpbench wrote the folder.
    #[error("{} has schema {schema}, which is newer than this gpbench reads ({SCHEMA})", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        schema: u64,
    },
    /// The folder holds no journal.
    #[error("{} is not a run folder: it has no journal.jsonl", folder.display())]
    NotARun {
        /// The folder.
        folder: PathBuf,
    },
    /// A file is no packed run, or is not what it states.
    #[error("{}: {fault}", file.display())]
    Packed {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        fault: PackFault,
    },
    /// The name cannot be that of a folder.
    #[error(
        "`{name}` cannot name a run: use a word without slashes, other than `{LATEST}` and `{PUBLISHED}`"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// Something other than a link has the name of the link to the newest run.
    #[error(
        "{} is not a link: gpbench keeps the link to the newest run under this name; rename it or move it away",
        path.display()
    )]
    LatestTaken {
        /// The file or folder.
        path: PathBuf,
    },
    /// No run has the name.
    #[error("there is no run `{run}` under {}{}", output_dir.display(), known_runs(known))]
    NoSuchRun {
        /// The name that was asked for.
        run: String,
        /// The folder that was searched.
        output_dir: PathBuf,
        /// Names that have runs there, or the runs of the name.
        known: Vec<String>,
    },
    /// Several runs have ids that begin so.
    #[error("`{run}` begins the ids of several runs: {}", runs.join(", "))]
    SeveralRuns {
        /// The beginning that was asked for.
        run: String,
        /// These runs, as `NAME/ID`.
        runs: Vec<String>,
    },
}

fn what_a_full_disk_needs(error: &io::Error) -> &'static str {
    if is_full(error) { "; all results so far are stored: make room, then run the same again" } else { "" }
}

fn known_runs(known: &[String]) -> String {
    if known.is_empty() { "; it holds no runs".into() } else { format!("; there are: {}", known.join(", ")) }
}

fn known_holder(holder: Option<&Holder>) -> String {
    holder.map(|holder| format!(" ({holder})")).unwrap_or_default()
}

/// Adds the operation and the path to an [`io::Error`].
pub(crate) trait Context<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, RunError>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, RunError> {
        self.map_err(|error| RunError::Io { action, path: path.to_owned(), source: error.into() })
    }
}

impl RunError {
    /// Whether there is no room for a file.
    pub fn is_full_disk(&self) -> bool {
        match self {
            RunError::Io { source, .. }
            | RunError::Packed { fault: PackFault::Unwritable { source, .. }, .. } => is_full(source),
            _ => false,
        }
    }

    /// Whether the user can mend it on the command line: a folder that is in use, that is not there or not writable, a link or
    /// a device in the place of a file, or a name that cannot be a folder's. A disk that is full or fails is not.
    pub fn is_users(&self) -> bool {
        match self {
            RunError::Io { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::PermissionDenied
                    | io::ErrorKind::ReadOnlyFilesystem
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::AlreadyExists
                    | io::ErrorKind::NotFound
                    | io::ErrorKind::InvalidInput
            ),
            RunError::Busy { .. }
            | RunError::LockLost { .. }
            | RunError::BadName { .. }
            | RunError::LatestTaken { .. }
            | RunError::NoSuchRun { .. }
            | RunError::SeveralRuns { .. }
            | RunError::NotARun { .. }
            | RunError::Packed { .. }
            | RunError::Newer { .. } => true,
            RunError::Damaged { .. } | RunError::JournalReplaced { .. } => false,
        }
    }
}
