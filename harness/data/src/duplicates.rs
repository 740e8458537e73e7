//! Rates of repeated inputs.
//!
//! A test row whose input is also a training input measures memory rather than prediction, and repeated training
//! inputs make K + s^2 I worse conditioned. In the KEGG sets most inputs repeat.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::reading::Repeats;
use crate::split::rows_of_split;
use crate::split_error::SplitError;
use crate::split_rows::SplitRows;
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
        let input = self.input_numbers();
        let mut seen = HashSet::with_capacity(train.len());
        let repeated = train.iter().filter(|&&row| !seen.insert(input[row])).count();
        let known = test.iter().filter(|&&row| seen.contains(&input[row])).count();
        let rate = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
        Ok(Duplicates { train_rate: rate(repeated, train.len()), test_rate: rate(known, test.len()) })
    }

    /// The rows that share their inputs, and how many of them a split of rows that are drawn one by one would test although
    /// it trains on their inputs.
    pub fn repeats(&self) -> Repeats {
        let input = self.input_numbers();
        let mut times = HashMap::with_capacity(self.n());
        for number in &input {
            *times.entry(*number).or_insert(0_usize) += 1;
        }
        let repeated = times.values().filter(|times| **times > 1);
        let (rows, inputs) = (repeated.clone().sum::<usize>(), repeated.count());
        let Ok(SplitRows { train, test, .. }) = rows_of_split(self, 0, None, None) else {
            return Repeats { rows, inputs, ..Repeats::default() };
        };
        let seen: HashSet<usize> = train.iter().map(|&row| input[row]).collect();
        let known_test_rows = test.iter().filter(|&&row| seen.contains(&input[row])).count();
        Repeats { rows, inputs, test_rows: test.len(), known_test_rows }
    }

    /// A number for each row, equal where inputs are equal: the first row with the same inputs. Inputs are compared exactly,
    /// with -0 equal to 0.
    pub(crate) fn input_numbers(&self) -> Vec<usize> {
        let mut first = HashMap::with_capacity(self.n());
        let rows = self.x.rows().into_iter().enumerate();
        // Adding 0 turns -0 into 0; then finite numbers are equal if and only if their bits are.
        rows.map(|(row, x)| {
            let bits: Vec<u64> = x.iter().map(|value| (value + 0.0).to_bits()).collect();
            *first.entry(bits).or_insert(row)
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, array};

    #[test]
    fn rates_of_a_small_table() {
        let table = Table {
            name: "small".into(),
            x: array![[1.0, 0.0], [1.0, -0.0], [2.0, 0.0], [1.0, 0.0], [3.0, 0.0], [2.0, 1.0]],
            y: Array1::zeros(6),
            test_masks: vec![vec![false, false, false, true, true, false]],
            ..Table::default()
        };
        let rates = table.duplicates(0).unwrap();
        assert_eq!(rates, Duplicates { train_rate: 0.25, test_rate: 0.5 });
        assert_eq!(table.repeats(), Repeats { rows: 3, inputs: 1, test_rows: 2, known_test_rows: 1 });
    }
}
