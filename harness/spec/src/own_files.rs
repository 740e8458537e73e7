//! The files of a user's own data set.

use std::path::{Path, PathBuf};

use crate::tables::dataset::Dataset;

/// The files of a user's own data set, relative to the current folder or absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnFiles {
    /// The rows: a CSV or Parquet file, or a folder with the layout of a registered set.
    pub data: PathBuf,
    /// The test rows, where they have a file of their own.
    pub test: Option<PathBuf>,
}

impl OwnFiles {
    /// Those that a table names, whose paths are relative to the spec's `folder`; none where it has no `path`.
    pub(crate) fn of(table: &Dataset, folder: &Path) -> Option<OwnFiles> {
        let data = folder.join(&table.path.as_ref()?.value);
        Some(OwnFiles { data, test: table.test.as_ref().map(|test| folder.join(&test.value)) })
    }
}
