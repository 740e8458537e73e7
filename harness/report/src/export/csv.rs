//! Comma-separated values: every case, a line each.

use polars::prelude::{ChunkApply, Column, CsvWriter, DataFrame, IntoColumn, PolarsResult, SerWriter};

use crate::error::Result;
use crate::escape;
use crate::frame;
use crate::run::Run;

/// The content of `results.parquet`, the column `case` aside. Words that a spreadsheet would calculate begin with an apostrophe.
pub(super) fn cases(run: &Run) -> Result<String> {
    let mut bytes = Vec::new();
    // A table in a spreadsheet has no use for a text of JSON.
    let frame = frame::results(run)?.drop(frame::CASE)?;
    CsvWriter::new(&mut bytes).finish(&mut guarded(frame)?)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The frame with its words safe for a spreadsheet; numbers stay as they are.
fn guarded(frame: DataFrame) -> PolarsResult<DataFrame> {
    let guard = |column: &Column| -> PolarsResult<Column> {
        let name = escape::csv_words(column.name());
        let guarded = match column.str() {
            Ok(words) => words.apply(|word| word.map(escape::csv_words)).into_column(),
            Err(_) => column.clone(),
        };
        Ok(guarded.with_name(name.as_ref().into()))
    };
    let columns = frame.columns().iter().map(guard).collect::<PolarsResult<Vec<_>>>()?;
    DataFrame::new(frame.height(), columns)
}
