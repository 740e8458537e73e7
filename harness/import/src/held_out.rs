//! Test rows in a file of their own, beside that of the training rows.
//!
//! The table has the training rows, then the test rows, and one split that says which are which. Columns are matched by name.

use std::fs;
use std::path::Path;

use gpbench_data::{ColumnReading, FileReading, Table};
use gpbench_record::ReadOptions;
use ndarray::{Axis, concatenate};

use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::pattern::{Pattern, ReadFile};
use crate::{doubts, memory, parquet, text};

/// Reads a file of training rows and one of test rows, both with the same options.
pub(crate) fn read(path: &Path, test: &Path, options: &ReadOptions) -> Result<Table, ImportError> {
    if let (Ok(full), Ok(other)) = (fs::canonicalize(path), fs::canonicalize(test))
        && full == other
    {
        return Err(InputPosition::file(test).fault(FileFault::TestIsTraining));
    }
    let training = read_file(path, options, None)?;
    let no_text =
        ReadOptions { separator: None, header: None, decimal: None, comment: None, ..options.clone() };
    let of_test = if parquet::is_parquet(test) { &no_text } else { options };
    let held_out = read_file(test, of_test, Some(&Pattern::of(path, &training)))?;
    check_kinds(&training.table, &held_out.table, path, test)?;
    united(training.table, held_out.table, test)
}

/// Reads a CSV or Parquet file.
pub(crate) fn read_file(
    path: &Path,
    options: &ReadOptions,
    like: Option<&Pattern<'_>>,
) -> Result<ReadFile, ImportError> {
    if parquet::is_parquet(path) {
        parquet::read(path, options, like)
    } else {
        text::read_table(path, options, like)
    }
}

/// Refuses a column that holds numbers in one file and times in the other.
fn check_kinds(training: &Table, held_out: &Table, path: &Path, test: &Path) -> Result<(), ImportError> {
    let is_used = |column: &&ColumnReading| !column.kind.is_empty();
    for found in held_out.reading.columns.iter().filter(is_used) {
        let same = |column: &&ColumnReading| column.name == found.name;
        if let Some(expected) = training.reading.columns.iter().filter(is_used).find(same)
            && expected.kind != found.kind
        {
            return Err(InputPosition::file(test).fault(FileFault::OtherKind {
                column: found.name.clone(),
                found: found.kind.clone(),
                expected: expected.kind.clone(),
                other: path.to_owned(),
            }));
        }
    }
    Ok(())
}

/// The table with the rows of both; `file` is that of the test rows.
fn united(training: Table, held_out: Table, file: &Path) -> Result<Table, ImportError> {
    let (n, n_test, d) = (training.n(), held_out.n(), training.d());
    let most = memory::numbers();
    if (d + 1).saturating_mul(n + n_test) > most {
        return Err(InputPosition::file(file).fault(FileFault::TooMany { most }));
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let of_ids = doubts::repeated_id(&held_out.reading.ids);
    let of_test = held_out.warnings.iter().chain(&of_ids).map(|warning| format!("{name}: {warning}"));
    let reading = FileReading {
        left_out_test_rows: held_out.reading.left_out_rows,
        ids: [training.reading.ids.clone(), held_out.reading.ids].concat(),
        ..training.reading.clone()
    };
    let mut table = Table {
        x: concatenate(Axis(0), &[training.x.view(), held_out.x.view()]).expect("the same inputs"),
        y: concatenate(Axis(0), &[training.y.view(), held_out.y.view()]).expect("both have one axis"),
        test_masks: vec![(0..n + n_test).map(|row| row >= n).collect()],
        keys: Vec::new(),
        warnings: training.warnings.iter().cloned().chain(of_test).collect(),
        reading,
        ..training
    };
    table.reading.repeats = table.repeats();
    Ok(table)
}
