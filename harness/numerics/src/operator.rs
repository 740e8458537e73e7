//! A matrix that is known by its products.

use std::fmt::Debug;

use ndarray::{Array1, ArrayView2, ArrayViewMut2};

/// A real n x m matrix A, known by its products.
///
/// `s` is the number of right-hand sides. Arguments may have any memory layout. Methods may use several threads.
pub trait LinearOperator: Debug + Send + Sync {
    /// The shape (n, m).
    fn shape(&self) -> (usize, usize);

    /// `y = A x`. `x` is `m x s`, `y` `n x s`.
    fn apply(&self, x: ArrayView2<'_, f64>, y: ArrayViewMut2<'_, f64>);

    /// `y = A[rows, :] x`. `x` is `m x s`, `y` |rows| x s.
    fn rows(&self, rows: &[usize], x: ArrayView2<'_, f64>, y: ArrayViewMut2<'_, f64>);

    /// `u = A[rows, :] x`, then `f(u)`, which may change u, then `z += A[rows, :]^T u`. Both products use each entry
    /// once. `x` and `z` are `m x s`.
    fn rows_and_back(
        &self,
        rows: &[usize],
        x: ArrayView2<'_, f64>,
        f: &mut dyn FnMut(ArrayViewMut2<'_, f64>),
        z: ArrayViewMut2<'_, f64>,
    );

    /// `y += A[:, cols] x`. `x` is |cols| x s, `y` `n x s`.
    fn columns(&self, cols: &[usize], x: ArrayView2<'_, f64>, y: ArrayViewMut2<'_, f64>);

    /// `out = A[rows, cols]`.
    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>);

    /// The n diagonal entries; `None` where rows and columns are different points.
    fn diagonal(&self) -> Option<Array1<f64>>;

    /// The same matrix with products in single precision and sums in double; `None` if the operator does not have
    /// this form.
    fn mixed(&self) -> Option<&dyn LinearOperator> {
        None
    }

    /// Number of entries that [`Self::apply`] evaluates if none is cached. The default is all of them.
    fn evaluated_by_apply(&self) -> f64 {
        let (n, m) = self.shape();
        n as f64 * m as f64
    }

    /// Number of entries that [`Self::rows_and_back`] evaluates for this many rows. The default is each entry once.
    fn evaluated_by_rows_and_back(&self, rows: usize) -> f64 {
        rows as f64 * self.shape().1 as f64
    }

    /// Number of cached entries that products have used so far instead of evaluating them. The default is 0.
    fn entries_found(&self) -> f64 {
        0.0
    }
}
