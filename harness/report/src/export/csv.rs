//! Comma-separated values: every case, a line each.

use polars::prelude::{ChunkApply, Column, CsvWriter, DataFrame, IntoColumn, PolarsResult, SerWriter};

use crate::error::Result;
use crate::escape;
use crate::frame::Frame;

/// The content of `results.parquet` without the column `case`, for which spreadsheets have no use. Words that a spreadsheet would calculate begin with an apostrophe.
pub(super) fn cases(frame: &Frame<'_>) -> Result<String> {
    let mut bytes = Vec::new();
    CsvWriter::new(&mut bytes).finish(&mut guarded(&frame.results)?)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Escapes the texts of a table for spreadsheets; numbers are unchanged.
fn guarded(table: &DataFrame) -> PolarsResult<DataFrame> {
    let guard = |column: &Column| -> PolarsResult<Column> {
        let name = escape::csv_words(column.name());
        let guarded = match column.str() {
            Ok(words) => words.apply(|word| word.map(escape::csv_words)).into_column(),
            Err(_) => column.clone(),
        };
        Ok(guarded.with_name(name.as_ref().into()))
    };
    let columns = table.columns().iter().map(guard).collect::<PolarsResult<Vec<_>>>()?;
    DataFrame::new(table.height(), columns)
}
