//! What a linear system is known by: the products of its matrix.
//!
//! Everything above this crate works with these two traits and never names who implements them, so that a
//! product may run on this process's threads, on another machine or on an accelerator. [`KernelMatrix`] is what a
//! solver works with, square or not; [`SystemMatrix`] is `H = K + noise^2 I` itself, with its hyperparameters and
//! derivatives.
//!
//! Shapes: A has n rows and m columns, blocks of right-hand sides have s columns in any layout. Counts of kernel
//! entries are whole numbers, as `f64`.

use std::fmt::Debug;

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2};

use crate::Gradient;
use crate::{Arithmetic, Kernel};

/// Most entries that a fused product keeps between its two halves: 128 MiB.
pub(crate) const FUSED_ENTRIES: usize = 1 << 24;

/// A kernel matrix A of n rows and m columns, known through its products.
///
/// Each function uses as many entries as the part of A that its description names has.
pub trait KernelMatrix: Debug + Send + Sync {
    /// n and m.
    fn shape(&self) -> (usize, usize);

    /// Number of rows n.
    fn n(&self) -> usize {
        self.shape().0
    }

    /// `out = A v`; `v` is `m x s`, `out` `n x s`.
    fn apply(&self, v: ArrayView2<f64>, out: ArrayViewMut2<f64>);

    /// Entries that [`Self::apply`] evaluates if it finds none stored; the others it uses are mirror images.
    fn evaluated_by_apply(&self) -> f64;

    /// `out = A[idx, :] v`. `v` is `m x s`, `out` |idx| x s.
    fn rows(&self, idx: &[usize], v: ArrayView2<f64>, out: ArrayViewMut2<f64>);

    /// `u = A[idx, :] v`, then `f(u)`, which may change u, then `z += A[idx, :]^T u`: uses its entries once for
    /// both products. `v` and `z` are `m x s`.
    ///
    /// The entries are stored in between where they fit into 128 MiB, else evaluated twice.
    fn rows_transposed_fused(
        &self,
        idx: &[usize],
        v: ArrayView2<f64>,
        f: &mut dyn FnMut(ArrayViewMut2<f64>),
        z: ArrayViewMut2<f64>,
    );

    /// Entries that [`Self::rows_transposed_fused`] evaluates for this many rows.
    fn evaluated_by_fused(&self, rows: usize) -> f64 {
        let entries = rows.saturating_mul(self.shape().1);
        if entries <= FUSED_ENTRIES { entries as f64 } else { 2.0 * entries as f64 }
    }

    /// `y += A[:, idx] u`. `u` is |idx| x s, `y` `n x s`.
    fn columns(&self, idx: &[usize], u: ArrayView2<f64>, y: ArrayViewMut2<f64>);

    /// `out = A[rows, cols]`.
    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<f64>);

    /// The n diagonal entries; `None` where rows and columns are different points.
    fn diagonal(&self) -> Option<Array1<f64>>;

    /// `K(X*, P) v`, without noise, for the points P of the columns: `n* x s`. `x_star` is `n* x d`, `v` `m x s`.
    fn cross(&self, x_star: ArrayView2<f64>, v: ArrayView2<f64>) -> Array2<f64>;

    /// The same matrix with the entries and sums of a tile in single precision, sums over tiles in double:
    /// products twice as fast, with a relative error of about 1e-6. `None` where there is no such form.
    fn mixed(&self) -> Option<&dyn KernelMatrix> {
        None
    }

    /// Lets [`Self::apply`] store up to `bytes` bytes of the entries that it evaluates, for its next calls, with
    /// unchanged results; drops those stored before. Entries in single precision displace those in double. A new
    /// matrix stores none, and one that cannot store any ignores the call.
    fn cache_entries(&mut self, bytes: usize) {
        let _ = bytes;
    }

    /// Bytes of the entries that are stored from one [`Self::apply`] to the next.
    fn cached_bytes(&self) -> usize {
        0
    }

    /// Entries that all products so far have found stored, and so have not evaluated.
    fn entries_found(&self) -> f64 {
        0.0
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
    /// are `n x s`. Uses n^2 entries, in this precision where the matrix has it.
    fn gradient(&self, u: ArrayView2<f64>, w: ArrayView2<f64>, precision: Arithmetic) -> Gradient;

    /// `K(X, Z)`, n x m and without noise, between the training rows and basis points `z` (m x d), computed by the
    /// same means.
    fn between(&self, z: ArrayView2<f64>) -> Box<dyn KernelMatrix>;

    /// `K(X', X')`, m x m and without noise, over other inputs `x` (m x d), computed by the same means.
    fn over(&self, x: ArrayView2<f64>) -> Box<dyn KernelMatrix>;
}
