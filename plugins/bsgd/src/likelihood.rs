//! The likelihood of a batch alone, with its derivatives.
//!
//! ```text
//! l(S) = r_S^T H_S^-1 r_S + log|H_S|,   H_S = K_SS + s^2 I
//! ```
//!
//! for targets r less their mean, without a factor for the batch's share of the rows. The derivative by H_S is
//! H_S^-1 - a a^T, a = H_S^-1 r_S.
//! Shoham and Avron 2025 (section 4.2) write it as sum over S of g_i + log|sum over S of F_i|, which differs: their
//! g_i and F_i carry 1 / n of |w|^2 and s^2 I, not 1 / |S|.

use gpbench_sdk::kernel::{Kernel, KernelGradient};
use gpbench_sdk::likelihood::{Likelihood, likelihood};
use gpbench_sdk::ndarray::{Array2, ArrayRef1, ArrayRef2};
use gpbench_sdk::{Result, Workers, symmetric};

/// l(S), and its derivatives by K_SS, s^2 and the mean.
#[derive(Debug, Clone)]
pub struct BatchLikelihood {
    /// Negative log marginal likelihood of the batch, per row.
    pub nlml: f64,
    /// Derivatives by the entries of K_SS.
    pub by_kernel: Array2<f64>,
    /// Derivative by s^2: tr H_S^-1 - a^T a.
    pub by_noise_variance: f64,
    /// Derivative by a constant that is added to every target's mean: -2 sum a.
    pub by_mean: f64,
}

impl BatchLikelihood {
    /// The likelihood of targets, where `kernel`, K_SS, is column-major; only its lower triangle is read.
    pub fn new(
        mut kernel: Array2<f64>,
        targets: &ArrayRef1<f64>,
        noise_variance: f64,
    ) -> Result<BatchLikelihood> {
        symmetric::add_diagonal(noise_variance, &mut kernel);
        let Likelihood { nlml, weights, cotangent } = likelihood(kernel, targets)?;
        let by_kernel = cotangent * (2.0 * targets.len() as f64);
        Ok(BatchLikelihood {
            nlml,
            by_noise_variance: by_kernel.diag().sum(),
            by_kernel,
            by_mean: -2.0 * weights.sum(),
        })
    }

    /// The likelihood with K_SS = Phi_S Phi_S^T, and its derivatives by the features, b x D: 2 (H_S^-1 - a a^T) Phi_S.
    pub fn of_features(
        features: &ArrayRef2<f64>,
        targets: &ArrayRef1<f64>,
        noise_variance: f64,
    ) -> Result<(BatchLikelihood, Array2<f64>)> {
        // A product of a row-major matrix and its transpose, seen as column-major: it is symmetric.
        let kernel = features.dot(&features.t()).reversed_axes();
        let batch = BatchLikelihood::new(kernel, targets, noise_variance)?;
        let by_features = batch.by_kernel.dot(features) * 2.0;
        Ok((batch, by_features))
    }

    /// The likelihood under a kernel of points, b x d, and its derivatives by scales and points.
    pub fn of_points(
        kernel: &Kernel,
        points: &ArrayRef2<f64>,
        targets: &ArrayRef1<f64>,
        noise_variance: f64,
        with_points: bool,
        workers: Workers<'_>,
    ) -> Result<(BatchLikelihood, KernelGradient)> {
        let gram = kernel.gram(points, points, workers);
        let batch = BatchLikelihood::new(gram, targets, noise_variance)?;
        let gradient = kernel.pull_back_square(points, &batch.by_kernel, with_points, workers);
        Ok((batch, gradient))
    }
}
