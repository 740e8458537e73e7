//! Data sets, from a name to scaled training and test rows.
//!
//! For a benchmark set, [`registry`] has its size, source and checksums; [`locate`] finds its files on this
//! machine; [`fetch`] downloads missing files; `gpbench-import` reads the text once into a [`Table`] and writes it
//! as a binary [`copy`]; every worker reads that copy in milliseconds and takes a [`split()`] of it. The
//! [`synthetic`] sets are drawn from a seed instead.
//!
//! This crate reads no text tables. Parsing needs a large dependency (polars), and workers, which link this crate,
//! should start fast and stay small.

#![forbid(unsafe_code)]

pub mod content;
pub mod copy;
mod duplicates;
pub mod fetch;
mod file_rows;
mod groups;
mod hash;
pub mod locate;
mod outside_box;
mod reading;
pub mod registry;
mod scale;
mod split;
mod split_error;
mod split_rows;
pub mod synthetic;
mod table;
mod test_rows;
mod training_columns;
pub mod verify;

pub use duplicates::Duplicates;
pub use hash::{ParseSha256Error, Sha256Hex};
pub use outside_box::OutsideBox;
pub use reading::{ColumnReading, FileReading, Repeats};
pub use scale::{Spread, is_nearly_constant};
pub use split::{Preparation, Split, Unscaled, split, split_of};
pub use split_error::SplitError;
pub use split_rows::drawn_training_rows;
pub use table::{KeyColumn, Names, Table, TableError};
pub use test_rows::{TestRows, test_rows};
pub use training_columns::{HardlyVaries, TrainingColumns, training_columns};
