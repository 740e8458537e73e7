//! The gradient of the exact log marginal likelihood.

use ndarray::{Array2, ArrayView2, ShapeBuilder};

use super::ExactGp;

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
    /// (n x d) the inputs of the fit. Takes n^3 multiply-adds and a few n x n arrays.
    pub fn gradient(&self, x: ArrayView2<f64>) -> Gradient {
        let (kernel, noise_scale) = (self.op.kernel(), self.op.noise_scale());
        let mut weight = self.solve(identity(self.n()).view());
        weight.indexed_iter_mut().for_each(|((i, j), w)| *w = self.v[i] * self.v[j] - *w);
        let half_trace = |derivative: &Array2<f64>| 0.5 * (&weight * derivative).sum();
        Gradient {
            noise_scale: noise_scale * weight.diag().sum(),
            signal_scale: half_trace(&kernel.matrix_by_signal_scale(x, x)),
            length_scale: (0..kernel.d())
                .map(|k| half_trace(&kernel.matrix_by_length_scale(k, x, x)))
                .collect(),
        }
    }
}

fn identity(n: usize) -> Array2<f64> {
    let mut identity = Array2::zeros((n, n).f());
    identity.diag_mut().fill(1.0);
    identity
}
