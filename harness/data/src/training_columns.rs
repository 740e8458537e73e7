//! Columns that hardly vary in the training rows of one split, although they vary in the whole table.

use gpbench_record::Dataset;
use ndarray::{ArrayView1, Axis};

use crate::scale::{Spread, is_nearly_constant};
use crate::split::{check_target, rows_of_dataset};
use crate::split_error::SplitError;
use crate::split_rows::SplitRows;
use crate::table::Table;

/// What is wrong with an input in the training rows of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HardlyVaries {
    /// It does not vary, up to rounding.
    Constant,
    /// It varies by less than can be scaled, and is treated as constant.
    TooSmall,
    /// It varies in the last digits of its values only.
    Nearly,
}

impl HardlyVaries {
    fn of(column: ArrayView1<'_, f64>) -> Option<HardlyVaries> {
        match Spread::of(column) {
            Spread::Constant => Some(HardlyVaries::Constant),
            Spread::TooSmall => Some(HardlyVaries::TooSmall),
            Spread::Usable(_) => is_nearly_constant(column).then_some(HardlyVaries::Nearly),
        }
    }
}

/// The sizes of a split, and the inputs that hardly vary in its training rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainingColumns {
    /// Number of training rows, before a subsample is taken.
    pub rows: usize,
    /// Number of test rows.
    pub test_rows: usize,
    /// The inputs that hardly vary in them and are not known to hardly vary in all rows, by their indices.
    pub hardly_varying: Vec<(usize, HardlyVaries)>,
}

/// The training rows of the split of a case, and the inputs that hardly vary in them.
///
/// # Errors
/// If there is no such split, it leaves no training rows, or its training targets do not vary enough.
pub fn training_columns(table: &Table, dataset: &Dataset) -> Result<TrainingColumns, SplitError> {
    let SplitRows { train: rows, test, .. } = rows_of_dataset(table, dataset)?;
    if rows.len() < 2 {
        return Err(SplitError::TooFewRows { name: table.name.clone(), n: rows.len() });
    }
    let targets = table.y.select(Axis(0), &rows);
    check_target(&table.name, dataset.split, targets.view(), dataset.targets)?;
    let inputs = table.x.axis_iter(Axis(1)).enumerate();
    let hardly = inputs.filter_map(|(index, column)| {
        let found = HardlyVaries::of(column.select(Axis(0), &rows).view())?;
        (HardlyVaries::of(column) != Some(found)).then_some((index, found))
    });
    let hardly_varying = hardly.collect();
    Ok(TrainingColumns { rows: rows.len(), test_rows: test.len(), hardly_varying })
}
