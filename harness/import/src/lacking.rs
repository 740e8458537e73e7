//! Rows that are left out, because they lack a value.

use std::collections::BTreeMap;

use crate::columns::Columns;
use crate::fault::FileFault;

/// The most columns that the warning names.
const MOST: usize = 5;

/// Counts of the rows that are left out.
#[derive(Debug, Default)]
pub(crate) struct Lacking {
    /// Rows of the file so far.
    pub(crate) all: usize,
    /// Rows that lack a value.
    pub(crate) rows: usize,
    /// Their numbers, counted from 0.
    pub(crate) numbers: Vec<u64>,
    /// Rows that lack the value of a column, by its index.
    of_columns: BTreeMap<usize, usize>,
}

impl Lacking {
    /// Counts a row that lacks the values of these columns; whether it lacks any.
    pub(crate) fn add(&mut self, columns: &[usize]) -> bool {
        if !columns.is_empty() {
            self.numbers.push(self.all as u64);
            self.rows += 1;
        }
        self.all += 1;
        for column in columns {
            *self.of_columns.entry(*column).or_insert(0) += 1;
        }
        !columns.is_empty()
    }

    /// The columns that rows lack, the most lacking one first, with the number of these rows.
    fn columns(&self) -> Vec<(usize, usize)> {
        let mut columns: Vec<(usize, usize)> =
            self.of_columns.iter().map(|(column, rows)| (*column, *rows)).collect();
        columns.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
        columns
    }

    /// How many rows are left out, and which values they lack; none where every row is used.
    pub(crate) fn warning(&self, columns: &Columns) -> Option<String> {
        let lacking = self.columns();
        if lacking.is_empty() {
            return None;
        }
        let of = |(column, rows): &(usize, usize)| format!("{rows} in column {}", columns.describe(*column));
        let mut named: Vec<String> = lacking.iter().take(MOST).map(of).collect();
        if lacking.len() > MOST {
            named.push(format!("others in {} more columns", lacking.len() - MOST));
        }
        Some(format!(
            "{} of {} rows are left out, because they lack a value (`missing` is `drop`): {}",
            self.rows,
            self.all,
            named.join(", ")
        ))
    }

    /// The fault of a file all of whose rows are left out.
    pub(crate) fn fault(&self, columns: &Columns) -> Option<FileFault> {
        let (column, lacking) = self.columns().first().copied().filter(|_| self.rows == self.all)?;
        Some(FileFault::AllLeftOut { rows: self.rows, column: columns.describe(column), lacking })
    }
}
