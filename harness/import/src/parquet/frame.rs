//! The columns of a frame: as they become parts of a table, and the rows that lack a value.

use gpbench_data::{ColumnReading, KeyColumn};
use ndarray::{Array1, Array2};
use polars::prelude::{BooleanChunked, Column, DataFrame, DataType, NewChunkedArray, PolarsError};

use crate::categories::{Input, Levels};
use crate::cell::{Held, is_lacking};
use crate::columns::Columns;
use crate::lacking::Lacking;
use crate::parts::{Part, Parts};
use crate::reading;
use crate::time::TimeScale;

/// The columns of a frame as they are read.
pub(super) struct ReadColumns {
    pub(super) x: Array2<f64>,
    pub(super) y: Array1<f64>,
    pub(super) keys: Vec<KeyColumn>,
    pub(super) groups: Vec<String>,
    /// The text that identifies each row.
    pub(super) ids: Vec<String>,
    /// The inputs so far; as many columns of `x` are filled.
    pub(super) inputs: Vec<Input>,
    pub(super) warnings: Vec<String>,
    /// What was understood of each column that is read, with its index.
    pub(super) columns: Vec<(usize, ColumnReading)>,
}

impl ReadColumns {
    pub(super) fn new(n: usize, parts: &Parts) -> ReadColumns {
        let key = |label: &String| KeyColumn { label: label.clone(), values: Vec::new() };
        ReadColumns {
            x: Array2::zeros((n, parts.inputs().count())),
            y: Array1::zeros(n),
            keys: parts.keys().iter().map(|column| key(&column.label)).collect(),
            groups: Vec::new(),
            ids: Vec::new(),
            inputs: Vec::new(),
            warnings: Vec::new(),
            columns: Vec::new(),
        }
    }

    /// Puts the values of a column in their places. After a fault, columns may be in the wrong place, and are not used.
    pub(super) fn take(
        &mut self,
        index: usize,
        parts: &Parts,
        columns: &Columns,
        values: Array1<f64>,
        levels: Option<Levels>,
    ) {
        for (place, key) in parts.keys().iter().enumerate().filter(|(_, key)| key.index == index) {
            self.keys[place].values = match levels.as_ref().filter(|_| key.is_group).map(Levels::groups) {
                Some((names, numbers)) => {
                    self.groups = names;
                    values.iter().map(|code| numbers[*code as usize]).collect()
                }
                None => values.to_vec(),
            };
        }
        if parts.of(index) == Part::Group {
            let of = |levels: &Levels| levels.warnings(&columns.describe(index), ["group", "groups"]);
            self.warnings.extend(levels.iter().flat_map(of));
        }
        match parts.of(index) {
            Part::Target => self.y.assign(&values),
            Part::Input | Part::Categories => {
                self.x.column_mut(self.inputs.len()).assign(&values);
                let (description, label) = (columns.describe(index), columns.label(index));
                self.inputs.push(Input { description, label, levels });
            }
            Part::Group | Part::Kept | Part::Id | Part::Dropped => {}
        }
    }
}

/// What was understood of each column, those that are not read too.
pub(super) fn with_dropped(
    mut read: Vec<(usize, ColumnReading)>,
    columns: &Columns,
    scale: &TimeScale,
) -> Vec<ColumnReading> {
    read.reverse();
    let of = |index: usize| match read.pop_if(|(next, _)| *next == index) {
        Some((_, reading)) => reading,
        None => {
            let (label, nothing) = (columns.label(index), std::iter::empty());
            reading::column(label, Part::Dropped, false, None, Held::Nothing, nothing, scale)
        }
    };
    (0..columns.count).map(of).collect()
}

/// The rows of a frame that lack no value, the 0-based rows of the file that they are, and the rows that are left out.
pub(super) fn without_lacking(
    frame: DataFrame,
    parts: &Parts,
) -> Result<(DataFrame, Vec<usize>, Lacking), PolarsError> {
    let lacks = frame.columns().iter().map(lacks).collect::<Result<Vec<Vec<bool>>, PolarsError>>()?;
    let used: Vec<usize> = parts.used().collect();
    let (mut lacking, mut kept) = (Lacking::default(), Vec::new());
    for row in 0..frame.height() {
        let of_row: Vec<usize> =
            used.iter().zip(&lacks).filter(|(_, lacks)| lacks[row]).map(|(index, _)| *index).collect();
        if !lacking.add(&of_row) {
            kept.push(row);
        }
    }
    if kept.len() == frame.height() {
        return Ok((frame, kept, lacking));
    }
    let mut is_kept = vec![false; frame.height()];
    kept.iter().for_each(|row| is_kept[*row] = true);
    let frame = frame.filter(&BooleanChunked::from_slice("kept".into(), &is_kept))?;
    Ok((frame, kept, lacking))
}

/// For each row, whether a column has no value there.
fn lacks(column: &Column) -> Result<Vec<bool>, PolarsError> {
    Ok(match column.dtype() {
        DataType::String => {
            column.str()?.iter().map(|value| value.is_none_or(|text| is_lacking(text.as_bytes()))).collect()
        }
        DataType::Float32 | DataType::Float64 => {
            let values = column.cast(&DataType::Float64)?;
            values.f64()?.iter().map(|value| value.is_none_or(f64::is_nan)).collect()
        }
        _ => column.is_null().iter().map(|is_null| is_null == Some(true)).collect(),
    })
}
