//! The same matrix with tiles in single precision.
//!
//! Entries and sums inside a tile are `f32`; sums over tiles are `f64`. A sum of singles has at most 128 terms, so
//! a product has an error of about `1e-6 ||K|| ||v||` (see the tests): negligible for a solver that stops at a
//! residual of 0.01, but too large for residuals of 1e-5. Blocks, which are used for factorisations, stay in double
//! precision.

use bytemuck::TransparentWrapper;
use gpbench_numerics::LinearOperator;
use ndarray::{Array1, ArrayView2, ArrayViewMut2};

use super::KernelOperator;

/// A [`KernelOperator`] with products in mixed precision, which take half the time.
#[derive(Debug, TransparentWrapper)]
#[repr(transparent)]
pub(super) struct Mixed(KernelOperator);

impl LinearOperator for Mixed {
    fn shape(&self) -> (usize, usize) {
        self.0.shape()
    }

    fn apply(&self, v: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        self.0.multiply_symmetric::<f32>(v, out);
    }

    fn evaluated_by_apply(&self) -> f64 {
        self.0.evaluated_by_apply()
    }

    fn rows(&self, idx: &[usize], v: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        self.0.multiply_rows::<f32>(idx, v, out);
    }

    fn rows_and_back(
        &self,
        idx: &[usize],
        v: ArrayView2<f64>,
        f: &mut dyn FnMut(ArrayViewMut2<f64>),
        z: ArrayViewMut2<f64>,
    ) {
        self.0.multiply_rows_fused::<f32>(idx, v, f, z);
    }

    fn evaluated_by_rows_and_back(&self, rows: usize) -> f64 {
        self.0.evaluated_by_rows_and_back(rows)
    }

    fn columns(&self, idx: &[usize], u: ArrayView2<f64>, y: ArrayViewMut2<f64>) {
        self.0.multiply_columns::<f32>(idx, u, y);
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<f64>) {
        self.0.block(rows, cols, out);
    }

    fn diagonal(&self) -> Option<Array1<f64>> {
        self.0.diagonal()
    }

    fn entries_found(&self) -> f64 {
        self.0.entries_found()
    }
}
