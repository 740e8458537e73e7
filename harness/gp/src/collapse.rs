//! Exact systems over unique inputs, where training inputs repeat.
//!
//! With m unique inputs among n rows, their counts C = diag(c_1 .. c_m), the n x m incidence matrix P
//! and Q = P C^-1/2, whose columns are orthonormal,
//!
//! ```text
//! H = P K_u P^T + noise^2 I = Q M Q^T + noise^2 I,    M = C^1/2 K_u C^1/2,
//! ```
//!
//! with the kernel matrix K_u of the unique inputs. H maps the range of Q to itself and is noise^2 I on its
//! orthogonal complement. Hence H v = b separates into a system of m rows and a division:
//!
//! ```text
//! (M + noise^2 I) gamma = Q^T b,    v = Q gamma + (b - Q Q^T b) / noise^2.
//! ```
//!
//! For any gamma, exact or not, b - H v = Q (Q^T b - (M + noise^2 I) gamma): both residuals have the same norm.
//! Conversely, gamma = Q^T v. The derivation is not from a paper.

use std::collections::HashMap;
use std::sync::Arc;

use gpbench_numerics::{LinearOperator, Pool};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder};
use rayon::ThreadPool;

use crate::KernelMatrix;
use crate::threads::OnPool;

/// The distinct rows of a matrix of inputs, and the row of each input.
#[derive(Debug, Clone, PartialEq)]
pub struct UniqueInputs {
    /// The distinct rows, m x d, row-major, in the order of their first occurrence.
    pub x: Array2<f64>,
    /// For each of the n rows, the index of its distinct row.
    pub of_row: Vec<usize>,
    /// Number of rows that equal each distinct row, m.
    pub counts: Array1<f64>,
}

impl UniqueInputs {
    /// The distinct rows of `x` (n x d). Rows are the same if all their numbers are equal; 0 equals -0.
    pub fn of(x: ArrayView2<f64>) -> UniqueInputs {
        let mut first_rows: Vec<usize> = Vec::new();
        let mut known: HashMap<Box<[u64]>, usize> = HashMap::with_capacity(x.nrows());
        let of_row = x.outer_iter().enumerate().map(|(row, point)| {
            // The sum with 0 turns -0 into 0.
            let bits = point.iter().map(|value| (value + 0.0).to_bits()).collect();
            *known.entry(bits).or_insert_with(|| {
                first_rows.push(row);
                first_rows.len() - 1
            })
        });
        let of_row: Vec<usize> = of_row.collect();
        let mut counts = Array1::zeros(first_rows.len());
        of_row.iter().for_each(|&unique| counts[unique] += 1.0);
        UniqueInputs { x: x.select(Axis(0), &first_rows), of_row, counts }
    }

    /// Number of distinct rows m.
    pub fn count(&self) -> usize {
        self.counts.len()
    }

    /// `Q^T b` for `b` n x s: m x s. Also maps a solution of the system of n rows to one of the system of m rows.
    pub fn project(&self, b: ArrayView2<f64>) -> Array2<f64> {
        let mut projected = self.sums(b);
        projected /= &self.counts.sqrt().insert_axis(Axis(1));
        projected
    }

    /// `v = Q gamma + (b - Q Q^T b) / noise_scale^2` for `gamma` m x s and right-hand sides `b` n x s:
    /// n x s.
    pub fn weights(&self, gamma: ArrayView2<f64>, b: ArrayView2<f64>, noise_scale: f64) -> Array2<f64> {
        assert_eq!(gamma.dim(), (self.count(), b.ncols()), "a row for each unique input");
        let means = self.sums(b) / self.counts.view().insert_axis(Axis(1));
        let scales = self.counts.sqrt();
        let mut v = Array2::zeros(b.dim().f());
        let columns = v.columns_mut().into_iter().zip(b.columns());
        for ((mut v, b), (gamma, means)) in columns.zip(gamma.columns().into_iter().zip(means.columns())) {
            for ((v, b), &unique) in v.iter_mut().zip(b).zip(&self.of_row) {
                *v = gamma[unique] / scales[unique] + (b - means[unique]) / noise_scale / noise_scale;
            }
        }
        v
    }

    /// `P^T b`, m x s.
    fn sums(&self, b: ArrayView2<f64>) -> Array2<f64> {
        assert_eq!(b.nrows(), self.of_row.len(), "a row for each of the inputs");
        let mut sums = Array2::zeros((self.count(), b.ncols()).f());
        for (mut sums, b) in sums.columns_mut().into_iter().zip(b.columns()) {
            b.iter().zip(&self.of_row).for_each(|(b, &unique)| sums[unique] += b);
        }
        sums
    }
}

/// `M + noise^2 I`, with `M = C^1/2 K_u C^1/2`: a kernel matrix of m rows and columns whose entry (i, i) is
/// `c_i s^2 + noise^2`.
///
/// Its products use the same kernel entries as those of K_u and cost as much.
#[derive(Debug)]
pub struct CollapsedOperator {
    /// K_u, without noise.
    unscaled: Box<dyn KernelMatrix>,
    /// Diagonal of C^1/2, m x 1.
    scales: Array2<f64>,
    noise_variance: f64,
    /// Pool on which blocks are scaled.
    pool: Arc<ThreadPool>,
}

impl CollapsedOperator {
    /// The collapsed operator from K_u, the kernel matrix of the unique `inputs` without noise. Blocks are scaled
    /// on the threads of `pool`.
    pub fn new(
        unscaled: Box<dyn KernelMatrix>,
        noise_scale: f64,
        inputs: &UniqueInputs,
        pool: Arc<ThreadPool>,
    ) -> Self {
        assert_eq!(unscaled.shape(), (inputs.count(), inputs.count()), "a row for each unique input");
        let scales = inputs.counts.sqrt().insert_axis(Axis(1));
        CollapsedOperator { unscaled, scales, noise_variance: noise_scale * noise_scale, pool }
    }

    /// Diagonal of C^1/2, m.
    pub fn scales(&self) -> ArrayView1<'_, f64> {
        self.scales.column(0)
    }

    /// `C^1/2 v`, column-major.
    fn scaled(&self, v: ArrayView2<f64>) -> Array2<f64> {
        let mut scaled = Array2::zeros(v.dim().f());
        scaled.assign(&v);
        scaled *= &self.scales;
        scaled
    }
}

impl LinearOperator for CollapsedOperator {
    fn shape(&self) -> (usize, usize) {
        self.unscaled.shape()
    }

    fn apply(&self, v: ArrayView2<f64>, mut out: ArrayViewMut2<f64>) {
        self.unscaled.apply(self.scaled(v).view(), out.view_mut());
        out *= &self.scales;
        out.scaled_add(self.noise_variance, &v);
    }

    fn evaluated_by_apply(&self) -> f64 {
        self.unscaled.evaluated_by_apply()
    }

    fn rows(&self, idx: &[usize], v: ArrayView2<f64>, mut out: ArrayViewMut2<f64>) {
        self.unscaled.rows(idx, self.scaled(v).view(), out.view_mut());
        out *= &self.scales.select(Axis(0), idx);
        out.scaled_add(self.noise_variance, &v.select(Axis(0), idx));
    }

    fn rows_and_back(
        &self,
        idx: &[usize],
        v: ArrayView2<f64>,
        f: &mut dyn FnMut(ArrayViewMut2<f64>),
        mut z: ArrayViewMut2<f64>,
    ) {
        let scales = self.scales.select(Axis(0), idx);
        let noise_part = v.select(Axis(0), idx) * self.noise_variance;
        let mut transformed = Array2::zeros((idx.len(), v.ncols()));
        let mut transform = |mut u: ArrayViewMut2<f64>| {
            u *= &scales;
            u += &noise_part;
            f(u.view_mut());
            transformed.assign(&u);
            u *= &scales;
        };
        let mut sums = Array2::zeros(z.dim().f());
        self.unscaled.rows_and_back(idx, self.scaled(v).view(), &mut transform, sums.view_mut());
        sums *= &self.scales;
        z += &sums;
        for (&row, u) in idx.iter().zip(transformed.rows()) {
            z.row_mut(row).scaled_add(self.noise_variance, &u);
        }
    }

    fn evaluated_by_rows_and_back(&self, rows: usize) -> f64 {
        self.unscaled.evaluated_by_rows_and_back(rows)
    }

    fn columns(&self, idx: &[usize], u: ArrayView2<f64>, mut y: ArrayViewMut2<f64>) {
        let mut sums = Array2::zeros(y.dim().f());
        let scaled = &u * &self.scales.select(Axis(0), idx);
        self.unscaled.columns(idx, scaled.view(), sums.view_mut());
        sums *= &self.scales;
        y += &sums;
        for (&row, u) in idx.iter().zip(u.rows()) {
            y.row_mut(row).scaled_add(self.noise_variance, &u);
        }
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<f64>) {
        self.unscaled.block(rows, cols, out.view_mut());
        let scales = self.scales();
        OnPool(&self.pool).for_each(out.columns_mut().into_iter().zip(cols), |(mut column, &col)| {
            for (entry, &row) in column.iter_mut().zip(rows) {
                *entry *= scales[row] * scales[col];
                if row == col {
                    *entry += self.noise_variance;
                }
            }
        });
    }

    fn diagonal(&self) -> Option<Array1<f64>> {
        let squares = self.scales().mapv(|scale| scale * scale);
        Some(squares * self.unscaled.diagonal()? + self.noise_variance)
    }

    fn entries_found(&self) -> f64 {
        self.unscaled.entries_found()
    }
}

impl KernelMatrix for CollapsedOperator {
    fn cross(&self, x_star: ArrayView2<f64>, v: ArrayView2<f64>) -> Array2<f64> {
        self.unscaled.cross(x_star, self.scaled(v).view())
    }

    fn cache_entries(&mut self, bytes: usize) {
        self.unscaled.cache_entries(bytes);
    }

    fn cached_bytes(&self) -> usize {
        self.unscaled.cached_bytes()
    }
}
