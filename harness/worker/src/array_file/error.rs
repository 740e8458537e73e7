//! Errors of array files.

use std::io;
use std::path::{Path, PathBuf};

/// Reason why an array file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system could not write or read the file.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is no such file.
    #[error("{path} does not exist", path = path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file is not an array file, or is one of another kind or version.
    #[error(
        "{path} is not a file of kind `{kind}` and of this version ({reason}): another version wrote it, or it is damaged",
        path = path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The kind of file that was expected.
        kind: &'static str,
        /// The first difference.
        reason: String,
    },
    /// The file was truncated or has changed since it was written.
    #[error("{path} is damaged: its checksum is wrong", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The file is intact, but its content is not what was expected.
    #[error("{path}: {what}", path = path.display())]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

impl FileError {
    /// An error of the system; a file that is not found is [`FileError::Missing`].
    pub(super) fn io(path: &Path, source: io::Error) -> FileError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => FileError::Missing { path },
            _ => FileError::Io { path, source },
        }
    }

    /// The error of a file whose content is not what was expected.
    pub(crate) fn mismatch(path: &Path, what: impl Into<String>) -> FileError {
        FileError::Mismatch { path: path.to_owned(), what: what.into() }
    }
}
