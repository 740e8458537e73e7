//! A whole data set in memory: inputs, targets and test masks.

use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A data set as in its file: not standardised, with all rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Name for messages and reports.
    pub name: String,
    /// Inputs, n x d, row-major.
    pub x: Array2<f64>,
    /// Targets, n.
    pub y: Array1<f64>,
    /// For each split, which rows are test rows; empty if the set has no splits.
    pub test_masks: Vec<Vec<bool>>,
    /// Names of its columns.
    pub names: Names,
    /// Warnings of the import.
    pub warnings: Vec<String>,
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
