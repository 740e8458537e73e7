//! Reads CSV and Parquet files, checks them, and writes the binary copy.
//!
//! A file is read once, here, and every cell is checked; afterwards only the copy is used. CSV goes through the
//! `csv` crate, which knows the line and the cell of an error; Parquet goes through polars. Errors read
//! `FILE:LINE:COLUMN: what is wrong; what to do`, where COLUMN counts cells from 1.
//!
//! A file of unknown origin can abort the process that reads it, so a program reads in a process of its own:
//! [`materialise_in_subprocess`] starts one, and there [`serve`] calls [`materialise`].

#![forbid(unsafe_code)]

mod bytes;
mod categories;
mod cell;
mod cell_fault;
mod collection;
mod columns;
mod doubts;
mod error;
mod fault;
mod faults;
mod format;
mod held_out;
mod lacking;
mod layout;
mod materialise;
mod memory;
mod parquet;
mod parquet_metadata;
mod parts;
mod pattern;
mod reading;
mod rows;
mod subprocess;
mod text;
mod time;

use std::path::Path;

use gpbench_data::Table;
use gpbench_data::locate::Found;
use gpbench_data::registry::RegistryEntry;
use gpbench_record::ReadOptions;

pub use cell_fault::CellFault;
pub use error::{ImportError, InputPosition, Role};
pub use fault::FileFault;
pub use format::OtherFormat;
pub use materialise::{Materialised, materialise};
pub use subprocess::{materialise_in_subprocess, serve};

/// The source of a table.
#[derive(Debug, Clone, Copy)]
pub enum ImportSource<'a> {
    /// A set of the registry, found on this machine.
    Collection(&'a Found, &'a RegistryEntry),
    /// The user's own CSV (also `.csv.gz`) or Parquet file, or a folder with the layout of a registered set
    /// (`data.csv.gz`, `test_mask.csv.gz`).
    File {
        /// The file or folder.
        path: &'a Path,
        /// How it is read.
        options: &'a ReadOptions,
    },
    /// The user's own CSV or Parquet files of training rows and of test rows.
    HeldOut {
        /// The file of training rows.
        path: &'a Path,
        /// The file of test rows, whose columns are matched by name.
        test: &'a Path,
        /// How both are read.
        options: &'a ReadOptions,
    },
}

impl ImportSource<'_> {
    /// The file or folder that a message names.
    fn path(&self) -> &Path {
        match *self {
            ImportSource::Collection(found, _) => &found.folder,
            ImportSource::File { path, .. } | ImportSource::HeldOut { path, .. } => path,
        }
    }

    /// Refuses a pipe, which may make the reader wait forever, a device, which may never end, and folders beside a file.
    fn require_regular(&self) -> Result<(), ImportError> {
        let files = match *self {
            ImportSource::Collection(..) => vec![],
            ImportSource::File { path, .. } => vec![path],
            ImportSource::HeldOut { path, .. } if path.is_dir() => {
                return Err(InputPosition::file(path).fault(FileFault::TestOfFolder));
            }
            ImportSource::HeldOut { test, .. } if test.is_dir() => {
                return Err(InputPosition::file(test).fault(FileFault::NotAFile));
            }
            ImportSource::HeldOut { path, test, .. } => vec![path, test],
        };
        match files.into_iter().find(|path| path.exists() && !path.is_file() && !path.is_dir()) {
            Some(path) => Err(InputPosition::file(path).fault(FileFault::NotAFile)),
            None => Ok(()),
        }
    }
}

/// Reads a data set and checks every cell.
///
/// # Errors
/// The first fault of the file, with its place; the first faults of all its columns, where several have one.
pub fn import(origin: &ImportSource<'_>) -> Result<Table, ImportError> {
    origin.require_regular()?;
    let table = match *origin {
        ImportSource::Collection(found, entry) => collection::read_registered(found, entry)?,
        ImportSource::File { path, options } if path.is_dir() => {
            // Its columns can be named for a split.
            let reading = ReadOptions { split_by: Vec::new(), ..options.clone() };
            if reading != ReadOptions::default() {
                return Err(InputPosition::file(path).fault(FileFault::OptionsOfFolder));
            }
            collection::read_folder(path)?
        }
        ImportSource::File { path, options } => held_out::read_file(path, options, None)?.table,
        ImportSource::HeldOut { path, test, options } => held_out::read(path, test, options)?,
    };
    Ok(table)
}
