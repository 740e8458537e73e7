//! Products with `K(X, Z)`: training rows against basis points, without noise.
//!
//! Uses the rectangular products of [`KernelOperator`]. Rows and columns never count as the same points, so no
//! entry has noise, even where a basis point is a training row.

use std::sync::Arc;

use gpbench_numerics::LinearOperator;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2};

use super::KernelOperator;
use super::cache::Cache;
use crate::KernelMatrix;
use crate::matrix::evaluated_by_rows_and_back;
use crate::scratch::Scratch;
use crate::tile::{Identity, Points, Side, Tiles};

/// `K(X, Z) = s^2 k(X, Z)` between the rows of X (n x d) and basis points Z (m x d), in O((n + m) d) memory. It
/// shares the rows of X with the operator that it is made from.
#[derive(Debug)]
pub(super) struct CrossOperator {
    /// The rows; of its products, which include noise, only the rectangular ones are used.
    over: KernelOperator,
    basis: Points,
}

impl CrossOperator {
    pub(super) fn new(rows: &KernelOperator, z: ArrayView2<f64>) -> CrossOperator {
        let KernelOperator { kernel, noise_scale, centre, points, pool, .. } = rows;
        let basis = Points::new(z, centre, &kernel.length_scale);
        let largest_norm = points.largest_norm().max(basis.largest_norm());
        let over = KernelOperator {
            kernel: kernel.clone(),
            noise_scale: *noise_scale,
            centre: centre.clone(),
            points: Arc::clone(points),
            tiles: Tiles::new(kernel, *noise_scale, largest_norm),
            pool: Arc::clone(pool),
            scratch: Scratch::default(),
            memory: Scratch::default(),
            cache: Cache::default(),
        };
        CrossOperator { over, basis }
    }

    fn all_rows(&self) -> Side<'_> {
        foreign(&self.over.points)
    }

    fn all_columns(&self) -> Side<'_> {
        foreign(&self.basis)
    }
}

/// Points that do not count as training rows.
fn foreign(points: &Points) -> Side<'_> {
    Side { points, identity: Identity::Foreign }
}

impl LinearOperator for CrossOperator {
    fn shape(&self) -> (usize, usize) {
        (self.over.points.n(), self.basis.n())
    }

    fn apply(&self, v: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        self.over.multiply::<f64>(self.all_rows(), self.all_columns(), v, out);
    }

    fn rows(&self, idx: &[usize], v: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        self.over.multiply::<f64>(foreign(&self.over.points.select(idx)), self.all_columns(), v, out);
    }

    fn rows_and_back(
        &self,
        idx: &[usize],
        v: ArrayView2<f64>,
        f: &mut dyn FnMut(ArrayViewMut2<f64>),
        z: ArrayViewMut2<f64>,
    ) {
        self.over.multiply_fused::<f64>(foreign(&self.over.points.select(idx)), self.all_columns(), v, f, z);
    }

    fn evaluated_by_rows_and_back(&self, rows: usize) -> f64 {
        evaluated_by_rows_and_back(rows, self.shape().1)
    }

    fn columns(&self, idx: &[usize], u: ArrayView2<f64>, y: ArrayViewMut2<f64>) {
        self.over.multiply_add::<f64>(self.all_rows(), foreign(&self.basis.select(idx)), u, y);
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<f64>) {
        let (rows, cols) = (self.over.points.select(rows), self.basis.select(cols));
        self.over.fill(&self.over.tiles, foreign(&rows), foreign(&cols), out);
    }

    fn diagonal(&self) -> Option<Array1<f64>> {
        None
    }
}

impl KernelMatrix for CrossOperator {
    fn cross(&self, x_star: ArrayView2<f64>, v: ArrayView2<f64>) -> Array2<f64> {
        self.over.multiply_foreign(x_star, self.all_columns(), v)
    }
}
