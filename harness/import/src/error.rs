//! Faults of a file: what is wrong, where, and what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::fault::FileFault;

/// A fault of a file, with its place.
#[derive(Debug, Error)]
#[error("{place}: {fault}")]
pub struct ImportError {
    /// Where it is.
    pub place: InputPosition,
    /// What is wrong, and what to do.
    pub fault: FileFault,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputPosition {
    /// The file.
    pub file: PathBuf,
    /// Line of a text file, or row of a Parquet file; from 1.
    pub line: Option<u64>,
    /// Cell in the line, from 1.
    pub column: Option<usize>,
}

impl InputPosition {
    pub(crate) fn file(file: &Path) -> Self {
        Self { file: file.to_owned(), line: None, column: None }
    }

    pub(crate) fn line(file: &Path, line: u64) -> Self {
        Self { line: Some(line), ..Self::file(file) }
    }

    /// The cell with 0-based `index` in a line.
    pub(crate) fn cell(file: &Path, line: u64, index: usize) -> Self {
        Self { column: Some(index + 1), ..Self::line(file, line) }
    }

    pub(crate) fn fault(self, fault: FileFault) -> ImportError {
        ImportError { place: self, fault }
    }

    /// The fault that an error of reading means.
    pub(crate) fn io(self, error: &io::Error) -> ImportError {
        if error.kind() == io::ErrorKind::FileTooLarge {
            return self.fault(FileFault::LongLine);
        }
        let damaged = matches!(
            error.kind(),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
        );
        let reason = error.to_string();
        self.fault(if damaged { FileFault::Gzip { reason } } else { FileFault::Unreadable { reason } })
    }
}

impl fmt::Display for InputPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        Ok(())
    }
}

/// What a named column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The target.
    Target,
    /// A column of categories.
    Categories,
    /// A column that is left out.
    Dropped,
    /// The column of groups.
    Group,
    /// A column that the split refers to.
    SplitBy,
    /// The column that identifies rows.
    Id,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Target => "target column",
            Role::Categories => "column of categories",
            Role::Dropped => "column to drop",
            Role::Group => "column of groups",
            Role::SplitBy => "column of the split",
            Role::Id => "column of ids",
        })
    }
}
