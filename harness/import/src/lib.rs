//! From text and Parquet files to the checked binary copy.
//!
//! Files are read once, here, with every check that a stranger's table needs;
//! afterwards only the copy is used. CSV goes through the `csv` crate, which can
//! say in which line and cell something is wrong; Parquet goes through polars,
//! which has no lines to speak of. Errors read `FILE:LINE:COLUMN: what; what to
//! do`, where COLUMN counts cells from 1.

#![forbid(unsafe_code)]

mod collection;
mod columns;
mod error;
mod materialise;
mod memory;
mod parquet;
mod text;

use std::path::Path;

use gpbench_data::Table;
use gpbench_data::locate::Found;
use gpbench_data::registry::Entry;

pub use error::{Fault, ImportError, Place};
pub use materialise::{Materialised, materialise};

/// Where rows come from.
#[derive(Debug, Clone, Copy)]
pub enum Origin<'a> {
    /// A set of the registry, found on this machine.
    Collection(&'a Found, &'a Entry),
    /// The user's own CSV (also `.csv.gz`) or Parquet file, or a folder laid out
    /// like a set of the registry (`data.csv.gz`, `test_mask.csv.gz`).
    File {
        /// The file or folder.
        path: &'a Path,
        /// The target column: a name, or a number counted from 0; the last column
        /// if not given.
        target: Option<&'a str>,
    },
}

/// Reads a data set and checks all of it.
pub fn import(origin: &Origin<'_>) -> Result<Table, ImportError> {
    let table = match *origin {
        Origin::Collection(found, entry) => collection::read_registered(found, entry)?,
        Origin::File { path, target } if path.is_dir() => {
            if target.is_some() {
                return Err(Place::file(path).fault(Fault::TargetOfFolder));
            }
            collection::read_folder(path)?
        }
        // Reading a pipe may wait for ever, and reading a device may never end.
        Origin::File { path, .. } if path.exists() && !path.is_file() => {
            return Err(Place::file(path).fault(Fault::NotAFile));
        }
        Origin::File { path, target } if parquet::is_parquet(path) => parquet::read(path, target)?,
        Origin::File { path, target } => text::read_table(path, target)?,
    };
    Ok(table)
}
