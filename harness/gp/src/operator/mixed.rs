//! The same matrix with tiles in single precision.
//!
//! Entries and the sums inside a tile are `f32`; sums over tiles are `f64`. With at most
//! 128 terms in a sum of singles, a product differs from the exact one by about
//! `1e-6 ||K|| ||v||` (see the tests): far less than what a solver leaves that stops at a
//! residual of 0.01, but too much to tell a residual of 1e-5 from zero. Blocks, from which
//! factors are made, stay in double precision.

use bytemuck::TransparentWrapper;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2};

use super::KernelOperator;
use crate::KernelMatrix;

/// A [`KernelOperator`] whose products take half the time and leave half of the digits.
#[derive(Debug, TransparentWrapper)]
#[repr(transparent)]
pub(super) struct Mixed(KernelOperator);

impl KernelMatrix for Mixed {
    fn shape(&self) -> (usize, usize) {
        self.0.shape()
    }

    fn apply(&self, v: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        self.0.multiply_symmetric::<f32>(v, out);
    }

    fn evaluated_by_apply(&self) -> f64 {
        self.0.evaluated::<f32>()
    }

    fn rows(&self, idx: &[usize], v: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        self.0.multiply_rows::<f32>(idx, v, out);
    }

    fn rows_transposed_fused(
        &self,
        idx: &[usize],
        v: ArrayView2<f64>,
        f: &mut dyn FnMut(ArrayViewMut2<f64>),
        z: ArrayViewMut2<f64>,
    ) {
        self.0.multiply_rows_fused::<f32>(idx, v, f, z);
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

    fn cross(&self, x_star: ArrayView2<f64>, v: ArrayView2<f64>) -> Array2<f64> {
        self.0.cross(x_star, v)
    }
}
