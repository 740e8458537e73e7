//! What can keep a run from starting or going on. A failing case is not among it.

use std::io;
use std::path::{Path, PathBuf};

use gpbench_record::Labels;

/// Why a run could not be started, continued or found.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A file operation of the run itself failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Another process is running in the folder.
    #[error("{} is in use by another gpbench; wait for it, or start a new folder with --fresh", folder.display())]
    Busy {
        /// The run folder.
        folder: PathBuf,
    },
    /// What a case failed with may be a full disk's doing, so it has no row.
    #[error(
        "there is no room in {}: {source}; nothing that has ended is lost: make room, then run the same again",
        folder.display()
    )]
    NoRoom {
        /// The run folder.
        folder: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The spec's name cannot name a folder.
    #[error("`{name}` cannot name a run: use a word without slashes, other than `latest`")]
    BadName {
        /// The name.
        name: String,
    },
    /// Two cases of a plan are the same.
    #[error("the case {labels} stands in the plan twice")]
    DuplicateCase {
        /// The axes of the case.
        labels: Labels,
    },
    /// There is no worker program.
    #[error("the worker program is not at {}; it belongs beside the gpbench executable", path.display())]
    WorkerNotFound {
        /// Where it was expected.
        path: PathBuf,
    },
    /// No run answers to a name.
    #[error("there is no run `{run}` under {}{}", output_dir.display(), known_runs(known))]
    NoSuchRun {
        /// What was asked for.
        run: String,
        /// Where runs were looked for.
        output_dir: PathBuf,
        /// Names that have runs there.
        known: Vec<String>,
    },
}

fn known_runs(known: &[String]) -> String {
    if known.is_empty() { "; it holds no runs".into() } else { format!("; there are: {}", known.join(", ")) }
}

/// Adds what was tried on which path to an [`io::Result`].
pub(crate) trait Context<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, EngineError>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T, EngineError> {
        self.map_err(|source| EngineError::Io { action, path: path.to_owned(), source })
    }
}
