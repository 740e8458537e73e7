//! Traits of the matrix of a linear system, which is accessed only through its products.
//!
//! Code that uses this crate works with these traits and never names the types that implement them, so that a
//! product may run on this process's threads, on another machine or on an accelerator. A solver works with a
//! [`LinearOperator`]; [`KernelMatrix`] adds what predictions and caches need, square or not; [`SystemMatrix`] is
//! `H = K + noise^2 I` itself, with its hyperparameters and derivatives.
//!
//! Shapes: A has n rows and m columns, blocks of right-hand sides have s columns in any layout. Counts of kernel
//! entries are whole numbers, as `f64`.

use gpbench_numerics::LinearOperator;
use ndarray::{Array2, ArrayView2};

use crate::Gradient;
use crate::{Arithmetic, Kernel};

/// Largest number of entries that [`LinearOperator::rows_and_back`] stores between its two products: 128 MiB. A larger
/// number of entries is evaluated twice.
pub(crate) const FUSED_ENTRIES: usize = 1 << 24;

/// Number of entries that [`LinearOperator::rows_and_back`] evaluates for `rows` rows of `columns` entries.
pub(crate) fn evaluated_by_rows_and_back(rows: usize, columns: usize) -> f64 {
    let entries = rows.saturating_mul(columns);
    if entries <= FUSED_ENTRIES { entries as f64 } else { 2.0 * entries as f64 }
}

/// A kernel matrix A of n rows and m columns, accessed only through its products.
///
/// Each function uses as many entries as there are in the part of A that its description names.
pub trait KernelMatrix: LinearOperator {
    /// Number of rows n.
    fn n(&self) -> usize {
        self.shape().0
    }

    /// `K(X*, P) v`, without noise, for the points P of the columns: `n* x s`. `x_star` is `n* x d`, `v` `m x s`.
    fn cross(&self, x_star: ArrayView2<f64>, v: ArrayView2<f64>) -> Array2<f64>;

    /// Lets [`LinearOperator::apply`] store up to `bytes` bytes of the entries that it evaluates, for its next calls,
    /// with unchanged results; drops those stored before. Entries in single precision replace those in double
    /// precision. A new matrix stores none, and one that cannot store any ignores the call.
    fn cache_entries(&mut self, bytes: usize) {
        let _ = bytes;
    }

    /// Bytes of the entries that are stored from one [`LinearOperator::apply`] to the next.
    fn cached_bytes(&self) -> usize {
        0
    }
}

/// The matrix of a linear system, `H = s^2 k(X, X) + noise^2 I` over the n training rows X: symmetric, positive
/// definite, n x n.
pub trait SystemMatrix: KernelMatrix {
    /// The kernel.
    fn kernel(&self) -> &Kernel;

    /// Standard deviation of the observation noise.
    fn noise_scale(&self) -> f64;

    /// `tr(U^T (dH / d theta) W)`, that is `sum_c u_c^T (dH / d theta) w_c`, for every scale `theta`; `u` and `w`
    /// are `n x s`. Uses n^2 entries, in `precision` where the matrix supports it.
    fn gradient(&self, u: ArrayView2<f64>, w: ArrayView2<f64>, precision: Arithmetic) -> Gradient;

    /// `K(X, Z)`, n x m and without noise, between the training rows and basis points `z` (m x d), computed in the
    /// same way.
    fn between(&self, z: ArrayView2<f64>) -> Box<dyn KernelMatrix>;

    /// `K(X', X')`, m x m and without noise, over other inputs `x` (m x d), computed in the same way.
    fn over(&self, x: ArrayView2<f64>) -> Box<dyn KernelMatrix>;
}
