//! A table with several rows for each case.

use std::ops::Range;

use polars::prelude::DataFrame;

/// A table with several rows for each case.
pub(crate) struct Nested {
    pub(crate) table: DataFrame,
    /// The first row of each case, then the number of all rows.
    pub(super) starts: Vec<usize>,
}

impl Nested {
    pub(super) fn rows_of(&self, case: usize) -> Range<usize> {
        self.starts[case]..self.starts[case + 1]
    }
}
