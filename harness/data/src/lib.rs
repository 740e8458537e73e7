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
mod hash;
pub mod locate;
pub mod registry;
mod scale;
mod split;
pub mod synthetic;
mod table;
mod training_columns;
pub mod verify;

pub use duplicates::Duplicates;
pub use hash::{ParseSha256Error, Sha256Hex};
pub use scale::{Spread, is_nearly_constant};
pub use split::{Preparation, Split, SplitError, Unscaled, drawn_training_rows, split, training_rows};
pub use table::{Names, Table, TableError};
pub use training_columns::{HardlyVaries, hardly_varying_inputs};
