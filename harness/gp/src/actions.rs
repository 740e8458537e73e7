//! Gaussian processes that are conditioned on projections of the targets alone (Wenger et al. 2022 and 2024,
//! computation-aware Gaussian processes).
//!
//! The actions S, n x i, select what is computed: the process is conditioned on S^T y, where y = f(X) + noise. With
//! `T = K S`, `M = S^T T`, `N = S^T S`, `G = M + noise^2 N = L L^T` and `c = G^-1 S^T y`,
//!
//! ```text
//! mean = K_*X S c,   variance of the latent function = k(x, x) - |L^-1 S^T K_X*|^2
//! bound = -[ n log(2 pi noise^2) + (|y - T c|^2 + tr(K) - |L^-1 T^T|_F^2) / noise^2 ] / 2 - KL
//! KL = [ c^T M c + log|G| - i log noise^2 - log|N| - tr(G^-1 M) ] / 2
//! ```
//!
//! and `bound <= log p(y)`. The variance is at least that of the exact process; with S = I all of it is the exact
//! process. Only the span of S matters.

use std::f64::consts::PI;
use std::sync::Arc;

use gpbench_numerics::{LinearOperator, Pool, factor, lapack};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayRef2, ArrayView2, Axis, ShapeBuilder};
use rayon::ThreadPool;

use crate::threads::OnPool;
use crate::{Kernel, KernelMatrix, KernelOperator, NotPositiveDefinite};

/// A process that is conditioned on projections.
#[derive(Debug, Clone)]
pub struct Actions {
    /// Covariance function.
    pub kernel: Kernel,
    /// S, n x i, with linearly independent columns.
    pub actions: Array2<f64>,
}

/// A process with its projections.
#[derive(Debug)]
pub struct Projected<'a> {
    actions: &'a Actions,
    op: KernelOperator,
    /// L in the lower triangle, i x i.
    factor: Array2<f64>,
    /// c.
    weights: Array1<f64>,
    /// Lower bound on the log marginal likelihood of the training rows.
    pub bound: f64,
    pool: Arc<ThreadPool>,
}

/// Columns of a product in one task.
const PANEL: usize = 32;

/// Rows that are predicted together.
const BLOCK: usize = 2048;

impl Actions {
    /// Conditions on the projections of the targets `y` of the rows of `x`, without the prior mean.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] where N or G is singular in double precision.
    pub fn condition(
        &self,
        noise_scale: f64,
        x: ArrayView2<f64>,
        y: &Array1<f64>,
        pool: &Arc<ThreadPool>,
    ) -> Result<Projected<'_>, NotPositiveDefinite> {
        let (n, count) = self.actions.dim();
        let (noise, threads) = (noise_scale * noise_scale, OnPool(pool));
        let op = KernelOperator::with_pool(&self.kernel, 0.0, x, Arc::clone(pool));
        let mut covariances = Array2::zeros((n, count).f());
        op.apply(self.actions.view(), covariances.view_mut());

        let gram = product(&self.actions, &self.actions, pool);
        let projected = product(&self.actions, &covariances, pool);
        let mut factor = Array2::zeros((count, count).f());
        factor.assign(&projected);
        factor += &projected.t();
        factor /= 2.0;
        factor.scaled_add(noise, &gram);
        factor::factorise(&mut factor, threads).map_err(NotPositiveDefinite::of)?;
        let of_gram = lower_factor(gram, threads)?;

        let mut weights = product(&self.actions, &y.view().insert_axis(Axis(1)), pool);
        lapack::cholesky_solve(&factor, &mut weights).expect("shapes fit");
        let misfit = y - &covariances.dot(&weights.column(0));

        let mut explained = transposed(&covariances);
        drop(covariances);
        factor::solve_lower(&factor, &mut explained, threads);
        let unexplained = n as f64 * self.kernel.variance() - squares(&explained);
        // tr(G^-1 M) = i - noise^2 tr(G^-1 N)
        let mut whitened = of_gram.clone();
        factor::solve_lower(&factor, &mut whitened, threads);
        let trace = count as f64 - noise * squares(&whitened);

        let weights = weights.remove_axis(Axis(1));
        let log_dets = log_det(&factor) - count as f64 * noise.ln() - log_det(&of_gram);
        let divergence = 0.5 * (weights.dot(&projected.dot(&weights)) + log_dets - trace);
        let normal = n as f64 * (2.0 * PI * noise).ln();
        let bound = -0.5 * (normal + (misfit.dot(&misfit) + unexplained) / noise) - divergence;
        Ok(Projected { actions: self, op, factor, weights, bound, pool: Arc::clone(pool) })
    }
}

impl Projected<'_> {
    /// Covariance function.
    pub fn kernel(&self) -> &Kernel {
        &self.actions.kernel
    }

    /// Mean and latent variance (without observation noise) at the rows of `x_star`. A variance that rounding makes
    /// negative is returned as 0.
    pub fn predict(&self, x_star: ArrayView2<f64>) -> (Array1<f64>, Array1<f64>) {
        let (mut means, mut variances) = (Array1::zeros(x_star.nrows()), Array1::zeros(x_star.nrows()));
        let blocks = x_star.axis_chunks_iter(Axis(0), BLOCK);
        let of_means = means.axis_chunks_iter_mut(Axis(0), BLOCK);
        let of_variances = variances.axis_chunks_iter_mut(Axis(0), BLOCK);
        for ((x_star, mut means), mut variances) in blocks.zip(of_means).zip(of_variances) {
            let projections = self.op.cross(x_star, self.actions.actions.view());
            means.assign(&projections.dot(&self.weights));
            let mut solved = transposed(&projections);
            factor::solve_lower(&self.factor, &mut solved, OnPool(&self.pool));
            for (variance, column) in variances.iter_mut().zip(solved.columns()) {
                *variance = (self.kernel().variance() - column.dot(&column)).max(0.0);
            }
        }
        (means, variances)
    }
}

/// A^T B.
fn product(a: &ArrayRef2<f64>, b: &ArrayRef2<f64>, pool: &ThreadPool) -> Array2<f64> {
    let mut product = Array2::zeros((a.ncols(), b.ncols()).f());
    let panels = product.axis_chunks_iter_mut(Axis(1), PANEL).zip(b.axis_chunks_iter(Axis(1), PANEL));
    OnPool(pool).for_each(panels, |(mut out, b)| general_mat_mul(1.0, &a.t(), &b, 0.0, &mut out));
    product
}

/// The lower triangular factor of a symmetric matrix, with zeros above the diagonal.
fn lower_factor(mut a: Array2<f64>, pool: OnPool<'_>) -> Result<Array2<f64>, NotPositiveDefinite> {
    factor::factorise(&mut a, pool).map_err(NotPositiveDefinite::of)?;
    a.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, entry)| *entry = 0.0);
    Ok(a)
}

/// The transposed matrix, column-major.
fn transposed(a: &Array2<f64>) -> Array2<f64> {
    let mut transposed = Array2::zeros((a.ncols(), a.nrows()).f());
    transposed.assign(&a.t());
    transposed
}

/// The squared Frobenius norm.
fn squares(a: &Array2<f64>) -> f64 {
    a.iter().map(|entry| entry * entry).sum()
}

/// The log-determinant of a matrix from its factor.
fn log_det(factor: &Array2<f64>) -> f64 {
    2.0 * factor.diag().iter().map(|entry| entry.ln()).sum::<f64>()
}
