//! Entries of A, `gpbench.block/1`.

use gpbench_abi as abi;
use ndarray::ArrayRef2;

use crate::error::{Error, Result};
use crate::matrix::{check_shape, with_output};
use crate::{Operator, Select};

impl Operator<'_> {
    /// out = A\[rows, cols\]; the noise variance is added where a row's index equals a column's, unless
    /// the columns have basis points of their own. Counts |rows| |cols| entries.
    pub fn block<'r, 'c>(
        &self,
        rows: impl Into<Select<'r>>,
        cols: impl Into<Select<'c>>,
        out: &mut ArrayRef2<f64>,
    ) -> Result<()> {
        let (rows, cols) = (rows.into(), cols.into());
        check_shape("block: out", out, rows.count(self.n()), cols.count(self.m()))?;
        let get = self.function(abi::id::BLOCK, |table: &abi::Block| table.get)?;
        let (rows, cols) = (rows.indices(self.n(), "row")?, cols.indices(self.m(), "column")?);
        let ((row, n_rows), (col, n_cols)) = (rows.raw(), cols.raw());
        let status = with_output(out, |out| {
            // SAFETY: live operator, checked indices, a matrix of the right shape.
            unsafe { get(self.raw(), row, n_rows, col, n_cols, out) }
        });
        Error::check("block.get", status)
    }
}
