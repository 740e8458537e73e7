//! Warnings of tables that are probably not what the user means.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::iter::once;
use std::path::Path;

use gpbench_data::{Spread, Table, is_nearly_constant};
use gpbench_record::counted;
use ndarray::ArrayView1;

use crate::columns::Columns;
use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::parts::{Part, Parts};

/// Rows from which a column that counts is taken for an index.
const COUNTED_ROWS: usize = 5;
/// Smallest number of nines, such as -999, that may stand for a missing value.
const NINES: f64 = 99.0;
/// Numbers from here on may stand for a missing value: formats of grids fill empty cells with 1e30 or more.
const FILLED: f64 = 1e30;

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

/// Warnings of a user's own file: of inputs that count the rows, of numbers that may stand for missing values, and of repeated
/// rows. `describe` describes the target's column, and `inputs` each input.
pub(crate) fn of_file(table: &Table, describe: impl Fn() -> String, inputs: &[String]) -> Vec<String> {
    let counting = (0..table.d()).filter(|index| counts_rows(table, *index)).map(|index| {
        format!("column {} counts the rows; if it is their number and no input, drop it", inputs[index])
    });
    let columns = table.x.columns().into_iter().zip(inputs);
    let of_inputs = columns.filter_map(|(column, name)| placeholder(column, name));
    let of_target = placeholder(table.y.view(), &describe());
    let of_ids = repeated_id(&table.reading.ids);
    counting.chain(of_inputs).chain(of_target).chain(repeated_rows(table)).chain(of_ids).collect()
}

/// A warning of an id that several rows have.
pub(crate) fn repeated_id(ids: &[String]) -> Option<String> {
    let mut seen = HashSet::with_capacity(ids.len());
    let id = ids.iter().find(|id| !seen.insert(*id))?;
    Some(format!("`{id}` is the id of several rows; ids do not tell the rows of predictions apart"))
}

/// Whether an input numbers the rows, in any order: its values are whole numbers without a repetition, and without gaps but for the
/// rows that are left out. Times that follow each other are no such numbers.
fn counts_rows(table: &Table, index: usize) -> bool {
    let column = table.x.column(index);
    let is_whole = column.iter().all(|value| value.fract() == 0.0);
    let is_of_times = table.names.inputs.get(index).is_some_and(|name| table.reading.holds_times(name));
    if column.len() < COUNTED_ROWS || !is_whole || is_of_times {
        return false;
    }
    let [least, greatest] = limits(column.iter().copied());
    let mut seen = HashSet::with_capacity(column.len());
    // Adding 0 turns -0 into 0.
    greatest - least < (column.len() + table.reading.left_out) as f64
        && column.iter().all(|value| seen.insert((value + 0.0).to_bits()))
}

/// The least and the greatest of some numbers; infinity and its negative where there are none.
fn limits(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, greatest], value| {
        [least.min(value), greatest.max(value)]
    })
}

/// Whether programs write a number in the place of a missing value: nines alone, such as -999.9 or 9999, or a huge one.
fn is_placeholder(value: f64) -> bool {
    let has_nines = || value.abs().to_string().chars().all(|c| c == '9' || c == '.');
    value.abs() >= FILLED || (value.abs() >= NINES && has_nines())
}

/// A warning of a number at an end of a column that is farther from the others than these are from each other, and that may stand
/// for a missing value.
fn placeholder(column: ArrayView1<'_, f64>, description: &str) -> Option<String> {
    let ends = limits(column.iter().copied());
    ends.into_iter().filter(|end| is_placeholder(*end)).find_map(|end| {
        let others = || column.iter().copied().filter(|value| *value != end);
        let [least, greatest] = limits(others());
        let gap = (least - end).max(end - greatest);
        let rows = counted(column.len() - others().count(), "row");
        (least < greatest && gap > greatest - least).then(|| {
            format!(
                "column {description} is {end:?} in {rows}, far from its other values, {least:?} to {greatest:?}; if it marks \
                 missing values, empty these cells, and set `missing` to `drop`"
            )
        })
    })
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
