//! Columns that hardly vary in the training rows of one split, although they vary in the whole table.

use gpbench_record::Dataset;
use ndarray::{ArrayView1, Axis};

use crate::scale::{Spread, is_nearly_constant};
use crate::split::{SplitError, check_target, rows_of_split};
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

/// The inputs that hardly vary in the training rows of a split and are not known to hardly vary in all rows, by their
/// indices.
///
/// # Errors
/// If there is no such split, it leaves no training rows, or its training targets do not vary enough.
pub fn hardly_varying_inputs(
    table: &Table,
    dataset: &Dataset,
) -> Result<Vec<(usize, HardlyVaries)>, SplitError> {
    let Dataset { split, validation, targets, .. } = *dataset;
    let shares = dataset.fractions.map(|shares| [shares.train, shares.test]);
    let rows = rows_of_split(table, split, shares, validation)?.train;
    if rows.len() < 2 {
        return Err(SplitError::TooFewRows { name: table.name.clone(), n: rows.len() });
    }
    check_target(&table.name, split, table.y.select(Axis(0), &rows).view(), targets)?;
    let inputs = table.x.axis_iter(Axis(1)).enumerate();
    let hardly = inputs.filter_map(|(index, column)| {
        let found = HardlyVaries::of(column.select(Axis(0), &rows).view())?;
        (HardlyVaries::of(column) != Some(found)).then_some((index, found))
    });
    Ok(hardly.collect())
}
