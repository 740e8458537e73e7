//! Reads CSV and Parquet files, checks them, and writes the binary copy.
//!
//! A file is read once, here, and every cell is checked; afterwards only the copy is used. CSV goes through the
//! `csv` crate, which knows the line and the cell of an error; Parquet goes through polars. Errors read
//! `FILE:LINE:COLUMN: what is wrong; what to do`, where COLUMN counts cells from 1.
//!
//! A file of unknown origin can abort the process that reads it, so a program reads in a process of its own:
//! [`materialise_in_subprocess`] starts one, and there [`serve`] calls [`materialise`].

#![forbid(unsafe_code)]

mod collection;
mod columns;
mod error;
mod materialise;
mod memory;
mod parquet;
mod subprocess;
mod text;

use std::path::Path;

use gpbench_data::Table;
use gpbench_data::locate::Found;
use gpbench_data::registry::Entry;

pub use error::{Fault, ImportError, Place};
pub use materialise::{Materialised, materialise};
pub use subprocess::{materialise_in_subprocess, serve};

/// The source of a table.
#[derive(Debug, Clone, Copy)]
pub enum Origin<'a> {
    /// A set of the registry, found on this machine.
    Collection(&'a Found, &'a Entry),
    /// The user's own CSV (also `.csv.gz`) or Parquet file, or a folder with the layout of a registered set
    /// (`data.csv.gz`, `test_mask.csv.gz`).
    File {
        /// The file or folder.
        path: &'a Path,
        /// The target column: a name, or a number counted from 0; the last column by default.
        target: Option<&'a str>,
    },
}

/// Reads a data set and checks every cell.
///
/// # Errors
/// The first fault of the file, with its place.
pub fn import(origin: &Origin<'_>) -> Result<Table, ImportError> {
    let table = match *origin {
        Origin::Collection(found, entry) => collection::read_registered(found, entry)?,
        Origin::File { path, target } if path.is_dir() => {
            if target.is_some() {
                return Err(Place::file(path).fault(Fault::TargetOfFolder));
            }
            collection::read_folder(path)?
        }
        // Reading a pipe may wait forever, and reading a device may never end.
        Origin::File { path, .. } if path.exists() && !path.is_file() => {
            return Err(Place::file(path).fault(Fault::NotAFile));
        }
        Origin::File { path, target } if parquet::is_parquet(path) => parquet::read(path, target)?,
        Origin::File { path, target } => text::read_table(path, target)?,
    };
    Ok(table)
}
