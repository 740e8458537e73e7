//! Products with random Fourier features, `gpbench.features/1`.

use gpbench_abi as abi;
use ndarray::ArrayRef2;

use crate::Operator;
use crate::error::{Error, Result};
use crate::matrix::{check_shape, with_input, with_output};

impl Operator<'_> {
    /// y = Phi w for the `w.nrows()` (an even number of) random Fourier features drawn from `seed`,
    /// E\[Phi Phi^T\] = K at the columns' points: the inputs or, with inducing points, the basis
    /// points; S K S with scales, see [`Inputs`](crate::Inputs). y is m x s. Counts no entries.
    pub fn features(&self, seed: u64, w: &ArrayRef2<f64>, y: &mut ArrayRef2<f64>) -> Result<()> {
        check_shape("features: y", y, self.m(), w.ncols())?;
        let apply = self.function(abi::id::FEATURES, |table: &abi::Features| table.apply)?;
        let count = w.nrows() as i64;
        let status = with_input(w, |w| {
            with_output(y, |y| {
                // SAFETY: live operator, matrices of the right shapes that do not overlap.
                unsafe { apply(self.raw(), seed, count, w, y) }
            })
        });
        Error::check("features.apply", status)
    }

    /// w = Phi^T y, with y m x s, see [`features`](Self::features).
    pub fn features_transposed(&self, seed: u64, y: &ArrayRef2<f64>, w: &mut ArrayRef2<f64>) -> Result<()> {
        check_shape("features_transposed: y", y, self.m(), w.ncols())?;
        let apply = self.function(abi::id::FEATURES, |table: &abi::Features| table.apply_transposed)?;
        let count = w.nrows() as i64;
        let status = with_input(y, |y| {
            with_output(w, |w| {
                // SAFETY: live operator, matrices of the right shapes that do not overlap.
                unsafe { apply(self.raw(), seed, count, y, w) }
            })
        });
        Error::check("features.apply_transposed", status)
    }
}
