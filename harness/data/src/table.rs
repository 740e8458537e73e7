//! A whole data set in memory: inputs, targets and test masks.

use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::reading::FileReading;

/// A data set as in its file: not standardised, with all rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Name for messages and reports.
    pub name: String,
    /// Inputs, n x d, row-major.
    pub x: Array2<f64>,
    /// Targets, n.
    pub y: Array1<f64>,
    /// For each split, which rows are test rows; empty if the set has no splits.
    pub test_masks: Vec<Vec<bool>>,
    /// Columns that splits refer to, whether they are inputs or not.
    pub keys: Vec<KeyColumn>,
    /// Names of its columns.
    pub names: Names,
    /// Warnings of the import.
    pub warnings: Vec<String>,
    /// What was understood of a user's own file.
    pub reading: FileReading,
}

/// A column that splits refer to.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyColumn {
    /// What the user calls it.
    pub label: String,
    /// A number for each row; of a column of groups, the number of its group.
    pub values: Vec<f64>,
}

/// Names of the columns of a table; none where nobody has given any.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// One for each input.
    pub inputs: Vec<String>,
    /// The target's.
    pub target: String,
}

/// Why a table is inconsistent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TableError {
    /// Inputs and targets differ in number.
    #[error("{inputs} rows of inputs but {targets} targets")]
    Targets {
        /// Rows of `x`.
        inputs: usize,
        /// Length of `y`.
        targets: usize,
    },
    /// A mask and the inputs differ in number.
    #[error("the mask of split {split} has {length} rows but the data have {n}")]
    Mask {
        /// Index of the split.
        split: usize,
        /// Its length.
        length: usize,
        /// Rows of `x`.
        n: usize,
    },
    /// No rows or no inputs.
    #[error("a data set needs at least one row and one input, not {n} x {d}")]
    Empty {
        /// Rows.
        n: usize,
        /// Inputs.
        d: usize,
    },
    /// A column that splits refer to and the inputs differ in number, or one of its values is not finite.
    #[error("column `{label}`, which splits refer to, has {finite} finite values but the data have {n} rows")]
    Key {
        /// The column.
        label: String,
        /// Its finite values.
        finite: usize,
        /// Rows of `x`.
        n: usize,
    },
    /// A number that is NaN or infinite.
    #[error(
        "row {row}, column {column} (both from 0; the target is column {d}) is {value}, not a finite number"
    )]
    NotFinite {
        /// 0-based row.
        row: usize,
        /// 0-based column; `d` is the target.
        column: usize,
        /// Number of inputs.
        d: usize,
        /// The value.
        value: String,
    },
}

impl Table {
    /// Number of rows.
    pub fn n(&self) -> usize {
        self.x.nrows()
    }

    /// Number of inputs.
    pub fn d(&self) -> usize {
        self.x.ncols()
    }

    /// The numbers of a column that a split refers to, by what the user calls it: one that was kept for that, or an input.
    pub(crate) fn column(&self, label: &str) -> Option<Vec<f64>> {
        let key = self.keys.iter().find(|key| key.label == label).map(|key| key.values.clone());
        let input = || {
            let index = self.names.inputs.iter().position(|name| name == label)?;
            Some(self.x.column(index).to_vec())
        };
        key.or_else(input)
    }

    /// Checks that lengths agree and every number is finite.
    ///
    /// # Errors
    /// Otherwise, with the first mistake.
    pub fn check(&self) -> Result<(), TableError> {
        let (n, d) = self.x.dim();
        if n == 0 || d == 0 {
            return Err(TableError::Empty { n, d });
        }
        if self.y.len() != n {
            return Err(TableError::Targets { inputs: n, targets: self.y.len() });
        }
        for (split, mask) in self.test_masks.iter().enumerate() {
            if mask.len() != n {
                return Err(TableError::Mask { split, length: mask.len(), n });
            }
        }
        for KeyColumn { label, values } in &self.keys {
            let finite = values.iter().filter(|value| value.is_finite()).count();
            if values.len() != n || finite != n {
                return Err(TableError::Key { label: label.clone(), finite, n });
            }
        }
        let inputs = self.x.indexed_iter().map(|((row, column), value)| (row, column, value));
        let targets = self.y.iter().enumerate().map(|(row, value)| (row, d, value));
        match inputs.chain(targets).find(|(_, _, value)| !value.is_finite()) {
            None => Ok(()),
            Some((row, column, value)) => {
                Err(TableError::NotFinite { row, column, d, value: value.to_string() })
            }
        }
    }
}
