//! Comma-separated values: every case, a line each.

use polars::prelude::{CsvWriter, SerWriter};

use crate::error::Result;
use crate::frame;
use crate::run::Run;

/// The content of `results.parquet`.
pub(super) fn cases(run: &Run) -> Result<String> {
    let mut bytes = Vec::new();
    CsvWriter::new(&mut bytes).finish(&mut frame::results(run)?)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
