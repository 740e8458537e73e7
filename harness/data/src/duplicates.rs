//! Rates of repeated inputs.
//!
//! A test row whose input is also a training input measures memory rather than prediction, and repeated training
//! inputs make K + s^2 I worse conditioned. In the KEGG sets most inputs repeat.

use std::collections::HashSet;

use serde::Serialize;

use crate::split::{SplitError, SplitRows, rows_of_split};
use crate::table::Table;

/// Shares of repeated inputs in one split.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Duplicates {
    /// Share of training rows with the input of an earlier training row.
    pub train_rate: f64,
    /// Share of test rows with the input of a training row.
    pub test_rate: f64,
}

impl Table {
    /// Rates of repeated inputs in one split. Inputs are compared exactly (with -0 equal to 0), before standardising.
    pub fn duplicates(&self, split: u32) -> Result<Duplicates, SplitError> {
        let SplitRows { train, test, .. } = rows_of_split(self, split, None, None)?;
        // Adding 0 turns -0 into 0; then finite numbers are equal if and only if their bits are.
        let x = self.x.mapv(|value| (value + 0.0).to_bits());
        let key = |row: usize| x.row(row).to_vec();

        let mut seen = HashSet::with_capacity(train.len());
        let repeated = train.iter().filter(|&&row| !seen.insert(key(row))).count();
        let known = test.iter().filter(|&&row| seen.contains(&key(row))).count();
        let rate = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
        Ok(Duplicates { train_rate: rate(repeated, train.len()), test_rate: rate(known, test.len()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Names;
    use ndarray::{Array1, array};

    #[test]
    fn rates_of_a_small_table() {
        let table = Table {
            name: "small".into(),
            x: array![[1.0, 0.0], [1.0, -0.0], [2.0, 0.0], [1.0, 0.0], [3.0, 0.0], [2.0, 1.0]],
            y: Array1::zeros(6),
            test_masks: vec![vec![false, false, false, true, true, false]],
            names: Names::default(),
            warnings: vec![],
        };
        let rates = table.duplicates(0).unwrap();
        assert_eq!(rates, Duplicates { train_rate: 0.25, test_rate: 0.5 });
    }
}
