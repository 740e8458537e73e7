//! Warnings of tables that are probably not what the user means.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::iter::once;
use std::path::Path;

use gpbench_data::{Spread, Table, is_nearly_constant};
use ndarray::ArrayView1;

use crate::columns::Columns;
use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::parts::{Part, Parts};

/// Rows from which a column that counts is taken for an index.
const COUNTED_ROWS: usize = 5;

/// Refuses a target that does not vary, and columns that vary by less than numbers can be scaled by. `describe` describes the
/// target's column, and `inputs` each input.
pub(crate) fn check_columns(
    table: &Table,
    describe: impl Fn() -> String,
    inputs: &[String],
    file: &Path,
) -> Result<(), ImportError> {
    let fault = |fault| Err(InputPosition::file(file).fault(fault));
    match Spread::of(table.y.view()) {
        Spread::Constant => {
            return fault(FileFault::ConstantTarget { column: describe(), value: table.y[0] });
        }
        Spread::TooSmall => return fault(FileFault::TooSmall { column: describe() }),
        Spread::Usable(_) => {}
    }
    let is_small = |column: ArrayView1<'_, f64>| Spread::of(column) == Spread::TooSmall;
    match table.x.columns().into_iter().position(is_small) {
        Some(index) => fault(FileFault::TooSmall { column: inputs[index].clone() }),
        None => Ok(()),
    }
}

/// Warnings of columns that vary hardly or not at all. `describe` describes the target's column, and `inputs` each input.
pub(crate) fn constant_columns(
    table: &Table,
    describe: impl Fn() -> String,
    inputs: &[String],
) -> Vec<String> {
    let constant = |index: usize| {
        let column = table.x.column(index);
        let up_to = if column.iter().all(|value| *value == column[0]) { "" } else { ", up to rounding" };
        format!(
            "column {} is {} in every row{up_to}; it is used, but carries no information",
            inputs[index], column[0]
        )
    };
    let nearly = |column: &str| {
        format!(
            "column {column} varies by less than 1e-9 of its values; most digits of the differences are lost to rounding: \
             subtract a constant before the numbers are rounded"
        )
    };
    let columns = table.x.columns().into_iter().zip(inputs);
    let hardly = columns.filter(|(column, _)| is_nearly_constant(*column)).map(|(_, name)| nearly(name));
    let target = is_nearly_constant(table.y.view()).then(|| nearly(&describe()));
    table.constant_inputs().into_iter().map(constant).chain(hardly).chain(target).collect()
}

/// Warnings of columns that hold no data but name rows: the index of a pandas frame, which is left out, and a first column
/// without a name. `table` has the inputs that `parts` chooses.
pub(crate) fn row_labels(table: &Table, columns: &Columns, parts: &Parts) -> Vec<String> {
    let left_out = parts.left_out().iter().map(|index| {
        format!(
            "column {} is the index of a pandas frame and is left out; to use it, name it as the target or in `categories`, \
             or call `reset_index()` before the file is written",
            columns.describe(*index)
        )
    });
    // A column that counts the rows has a warning of its own.
    let is_input = parts.of(0) == Part::Input && !counts_rows(table, 0);
    let is_used = is_input || parts.of(0) == Part::Target;
    let labels = (is_used && columns.lacks_name(0)).then(|| {
        format!(
            "column {} has no name; if it holds row labels, as pandas and R write them, drop it (`drop`: 0)",
            columns.describe(0)
        )
    });
    left_out.chain(labels).collect()
}

/// Warnings of a user's own file: of inputs that count the rows, and of repeated rows. `descriptions` describes each
/// input.
pub(crate) fn of_file(table: &Table, descriptions: &[String]) -> Vec<String> {
    let counting = (0..table.d()).filter(|index| counts_rows(table, *index)).map(|index| {
        format!("column {} counts the rows; if it is their number and no input, drop it", descriptions[index])
    });
    counting.chain(repeated_rows(table)).collect()
}

/// Whether an input is 0, 1, 2, ... or 1, 2, 3, ...
fn counts_rows(table: &Table, index: usize) -> bool {
    let column = table.x.column(index);
    let first = column[0];
    column.len() >= COUNTED_ROWS
        && (first == 0.0 || first == 1.0)
        && column.iter().enumerate().all(|(row, value)| *value == first + row as f64)
}

/// A warning of rows that repeat an earlier one, inputs and target.
fn repeated_rows(table: &Table) -> Option<String> {
    let numbers = |row: usize| table.x.row(row).to_vec().into_iter().chain(once(table.y[row]));
    // Rows of one digest are compared, so that no chance makes rows equal; a memory of digests is small.
    let digest = |row: usize| {
        let mut hasher = DefaultHasher::new();
        // Adding 0 turns -0 into 0; then finite numbers are equal if and only if their bits are.
        numbers(row).for_each(|value| (value + 0.0).to_bits().hash(&mut hasher));
        hasher.finish()
    };
    let mut seen = HashMap::with_capacity(table.n());
    let mut repeated = (0..table.n()).filter_map(|row| {
        let first = *seen.entry(digest(row)).or_insert(row);
        (first != row && numbers(first).eq(numbers(row))).then_some((row, first))
    });
    let (row, first) = repeated.next()?;
    let count = 1 + repeated.count();
    Some(format!(
        "{count} of {} rows repeat an earlier row, inputs and target (row {} is row {} again); where they are copies, \
         remove them: what is tested would be known from training",
        table.n(),
        row + 1,
        first + 1
    ))
}

/// A warning of a first row that may be a header of numbers: whole numbers that grow from column to column, and that
/// either count the columns from 1 or stand above numbers with fractions.
pub(crate) fn numeric_header(table: &Table, target: usize, line: u64) -> Option<String> {
    let mut first = table.x.row(0).to_vec();
    first.insert(target.min(first.len()), table.y[0]);
    let grows = first.windows(2).all(|pair| pair[0] < pair[1]);
    if first.len() < 3 || table.n() < 3 || !grows || first.iter().any(|value| value.fract() != 0.0) {
        return None;
    }
    let counts = first.iter().enumerate().all(|(index, value)| *value == (index + 1) as f64);
    let has_fraction =
        |mut values: ndarray::iter::Iter<'_, f64, ndarray::Ix1>| values.any(|v| v.fract() != 0.0);
    let fractions = table.x.columns().into_iter().all(|column| has_fraction(column.into_iter()))
        && has_fraction(table.y.iter());
    (counts || fractions).then(|| {
        let shown: Vec<String> = first.iter().take(3).map(f64::to_string).collect();
        format!(
            "line {line} ({}, ...) is read as data; if it is a header of numbers, set `header` to say so",
            shown.join(", ")
        )
    })
}
