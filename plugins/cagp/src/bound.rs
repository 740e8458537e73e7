//! The process that is conditioned on projections, and its lower bound on the log marginal likelihood.
//!
//! Wenger et al. 2024, *Computation-Aware Gaussian Processes: Model Selection and Linear-Time Inference*. With n
//! rows, i actions S, T = K S, M = S^T T, N = S^T S, G = M + s^2 N = L L^T, r = y - prior mean, c = G^-1 S^T r and
//! W = T L^-T:
//!
//! ```text
//! mean = K_*X S c,   latent variance = s_f^2 - |L^-1 S^T K_X*|^2
//! bound = -[ n log 2 pi s^2 + (|r - T c|^2 + n s_f^2 - |W|_F^2) / s^2 ] / 2 - divergence
//! divergence = [ c^T M c + log|G| - i log s^2 - log|N| - i + s^2 tr(G^-1 N) ] / 2
//! ```
//!
//! The divergence is that of the posterior of S^T f from its prior. log|N| is the sum of the logarithms of the
//! squared lengths where the actions are orthogonal, so that lengths of actions change nothing.

use std::f64::consts::TAU;

use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, ShapeBuilder};
use gpbench_sdk::symmetric::{self, column_major};
use gpbench_sdk::{Result, Workers, lapack, panels, tall};

use crate::{ActionMatrix, covariances};

/// Scales of a process.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisyKernel {
    /// The kernel.
    pub kernel: Kernel,
    /// Standard deviation s of the noise.
    pub noise_scale: f64,
}

/// A process that is conditioned on projections of the targets.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectedProcess {
    /// Lower bound on the log marginal likelihood of all rows.
    pub bound: f64,
    /// Divergence of the posterior of S^T f from its prior, a part of the bound.
    pub divergence: f64,
    /// c.
    pub weights: Array1<f64>,
    /// T, n x i and column-major.
    pub(crate) covariances: Array2<f64>,
    /// M, both triangles.
    pub(crate) prior: Array2<f64>,
    /// N.
    pub(crate) gram: Array2<f64>,
    /// L, in the lower triangle.
    pub(crate) factor: Array2<f64>,
    /// G^-1, both triangles.
    pub(crate) inverse: Array2<f64>,
    /// W^T W, both triangles.
    pub(crate) explained: Array2<f64>,
    /// r - T c, n x 1.
    pub(crate) misfit: Array2<f64>,
}

impl ProjectedProcess {
    /// Conditions on the projections of `residual`, the targets less the prior mean. `covariances` is T.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`](gpbench_sdk::Error::NotPositiveDefinite) if N or G is not, to working precision.
    pub fn new(
        at: &NoisyKernel,
        residual: ArrayView1<'_, f64>,
        actions: &ActionMatrix,
        covariances: Array2<f64>,
        workers: Workers<'_>,
    ) -> Result<ProjectedProcess> {
        let (n, count) = (residual.len() as f64, actions.count());
        let noise = at.noise_scale.powi(2);
        let gram = actions.gram(workers);
        let half = actions.project(&covariances, workers);
        let mut prior = column_major(&half.t());
        prior += &half;
        prior /= 2.0;
        let mut factor = prior.clone();
        factor.scaled_add(noise, &gram);
        panels::cholesky(&mut factor, workers)?;
        let mut of_gram = gram.clone();
        panels::cholesky(&mut of_gram, workers)?;
        let inverse = symmetric::inverse(&factor, workers);

        let mut misfit = column(residual);
        let mut weights = actions.project(&misfit, workers);
        lapack::cholesky_solve(&factor, &mut weights)?;
        tall::add_product(-1.0, &covariances, &weights, &mut misfit, workers);
        let weights = weights.remove_axis(Axis(1));
        let mut explained = Array2::zeros((count, count).f());
        let white = divide(&covariances, &factor, workers)?;
        symmetric::add_gram_shared(&white, &mut explained, workers);
        lapack::mirror_lower(&mut explained);

        let count = count as f64;
        let shared = count - noise * inner(&inverse, &gram);
        let log_dets =
            lapack::log_determinant(&factor) - count * noise.ln() - lapack::log_determinant(&of_gram);
        let divergence = 0.5 * (weights.dot(&prior.dot(&weights)) + log_dets - shared);
        let unexplained = n * at.kernel.signal_scale.powi(2) - explained.diag().sum();
        let fit = -0.5 * (n * (TAU * noise).ln() + (inner(&misfit, &misfit) + unexplained) / noise);
        Ok(ProjectedProcess {
            bound: fit - divergence,
            divergence,
            weights,
            covariances,
            prior,
            gram,
            factor,
            inverse,
            explained,
            misfit,
        })
    }

    /// Means less the prior mean, and latent variances, at the rows of `points`, where `x` are the training rows.
    /// Variances are not negative.
    ///
    /// # Errors
    /// Of LAPACK; none for numbers that are finite.
    pub fn predict(
        &self,
        at: &NoisyKernel,
        points: ArrayView2<'_, f64>,
        x: ArrayView2<'_, f64>,
        actions: &ActionMatrix,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        let projections = covariances(&at.kernel, points, x, actions, workers);
        let means = projections.dot(&self.weights);
        let white = divide(&projections, &self.factor, workers)?;
        let prior = at.kernel.signal_scale.powi(2);
        Ok((means, white.map_axis(Axis(1), |row| (prior - row.dot(&row)).max(0.0))))
    }
}

/// A L^-T.
fn divide(a: &Array2<f64>, factor: &Array2<f64>, workers: Workers<'_>) -> Result<Array2<f64>> {
    let order: Vec<usize> = (0..a.ncols()).collect();
    tall::divide(a, &order, factor, workers)
}

/// A vector as a matrix of one column.
pub(crate) fn column(vector: ArrayView1<'_, f64>) -> Array2<f64> {
    column_major(&vector.insert_axis(Axis(1)))
}

/// The sum of the products of entries.
pub(crate) fn inner(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
