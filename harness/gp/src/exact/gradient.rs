//! The gradient of the exact log marginal likelihood.

use ndarray::ArrayView2;

use super::ExactGp;
use crate::train::estimator;

/// Derivatives of the log marginal likelihood by the scales themselves (not by their logarithms
/// or squares); an ascent direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    /// By the noise scale.
    pub noise_scale: f64,
    /// By the signal scale.
    pub signal_scale: f64,
    /// By each length scale.
    pub length_scale: Vec<f64>,
}

impl ExactGp {
    /// `d log p(y) / d theta = tr((v v^T - H^-1) dH/d theta) / 2` for every hyperparameter, with `x`
    /// (n x d) the inputs of the fit. Takes n^3 / 3 multiply-adds and an n x n array.
    pub fn gradient(&self, x: ArrayView2<f64>) -> Gradient {
        estimator::exact(self, x, self.v.view())
    }
}
