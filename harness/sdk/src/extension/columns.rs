//! Updates with some columns of A, `gpbench.columns/1`.

use gpbench_abi as abi;
use ndarray::ArrayRef2;

use crate::error::{Error, Result};
use crate::matrix::{check_shape, with_input, with_output};
use crate::{Operator, Select};

impl Operator<'_> {
    /// y += A\[:, cols\] x, with x |cols| x s and y n x s. Counts n |cols| entries.
    pub fn update_columns<'i>(
        &self,
        cols: impl Into<Select<'i>>,
        x: &ArrayRef2<f64>,
        y: &mut ArrayRef2<f64>,
    ) -> Result<()> {
        let (cols, s) = (cols.into(), x.ncols());
        check_shape("update_columns: x", x, cols.count(self.m()), s)?;
        check_shape("update_columns: y", y, self.n(), s)?;
        let update = self.function(abi::id::COLUMNS, |table: &abi::Columns| table.update)?;
        let indices = cols.indices(self.m(), "column")?;
        let (index, count) = indices.raw();
        let status = with_input(x, |x| {
            with_output(y, |y| {
                // SAFETY: live operator, checked indices, matrices of the right shapes that do not overlap.
                unsafe { update(self.raw(), index, count, x, y) }
            })
        });
        Error::check("columns.update", status)
    }
}
