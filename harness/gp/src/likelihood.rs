//! Estimates of the log marginal likelihood and its gradient, with and without bias.
//!
//! ```text
//! log p(y) = -(y^T H^-1 y + log |H| + n log(2 pi)) / 2
//! ```
//!
//! | estimate | bias (Potapczynski et al. 2021, theorems 1 and 2) |
//! |---|---|
//! | truncated conjugate gradients | `y^T H^-1 y` too low, `log |H|` too high: underfits |
//! | [`log_det`] with a random number of nodes | none: the same series, truncated at random and reweighted |
//! | [`of_features`] | `y^T H^-1 y` too high, `log |H|` too low: overfits |
//! | [`SingleSample`] | none: one random term of a series over the number of features |
//!
//! The first two use solutions of the linear solver; their gradients are those of
//! [`train::estimator`](crate::train::estimator).

mod features;
mod single_sample;
mod truncation;

use std::f64::consts::PI;

use ndarray::ArrayView2;

use crate::Gradient;
use crate::exact::ExactGp;
use crate::{KernelMatrix, lanczos};

pub use features::of_features;
pub use single_sample::{Sampled, SingleSample};
pub use truncation::Truncation;

/// The two terms of the log likelihood that depend on the hyperparameters, and the gradient: exact or estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct Likelihood {
    /// `y^T H^-1 y`.
    pub quadratic: f64,
    /// `log |H|`.
    pub log_det: f64,
    /// Derivative of `log p(y)` by a constant prior mean, `1^T H^-1 y`.
    pub by_mean: f64,
    /// Derivatives of `log p(y)` by the scales.
    pub gradient: Gradient,
}

impl Likelihood {
    /// The exact likelihood, with the inputs `x` (n x d) of the fit. Costs as much as [`ExactGp::gradient`].
    pub fn exact(gp: &ExactGp, x: ArrayView2<f64>) -> Likelihood {
        let (quadratic, log_det) = (gp.y_hinv_y, gp.log_det);
        Likelihood { quadratic, log_det, by_mean: gp.v.sum(), gradient: gp.gradient(x) }
    }

    /// `log p(y)` of `n` targets.
    pub fn log_marginal_likelihood(&self, n: usize) -> f64 {
        -0.5 * (self.quadratic + self.log_det + n as f64 * (2.0 * PI).ln())
    }

    /// Adds `weight` times the terms and the gradient of `other`.
    fn add(&mut self, weight: f64, other: &Likelihood) {
        let Likelihood { quadratic, log_det, by_mean, gradient } = other;
        self.quadratic += weight * quadratic;
        self.log_det += weight * log_det;
        self.by_mean += weight * by_mean;
        self.gradient.add(weight, gradient);
    }
}

/// An estimate of `log |H|`: the mean over probes z, the columns of `probes` (n x s), of the truncated series of
/// quadratures of `z^T log(H) z`. With Q_j the quadrature with j nodes, it is
///
/// ```text
/// Q_J, with J fixed, or   sum over j <= J of (Q_j - Q_{j-1}) / P(J >= j), with J drawn once for each probe
/// ```
///
/// (Potapczynski et al. 2021, equations 8, 13 and 16), with J from `truncation`. Once the Krylov space of a probe is
/// exhausted, Q_j no longer changes. `None` where H is not positive definite in double precision.
///
/// # Panics
/// Without probes.
pub fn log_det(op: &dyn KernelMatrix, probes: ArrayView2<f64>, truncation: &Truncation) -> Option<f64> {
    assert!(probes.ncols() > 0, "the trace is estimated from at least one probe");
    let nodes: Vec<usize> = (0..probes.ncols()).map(|probe| truncation.draw(probe, op.n())).collect();
    let most = nodes.iter().copied().max().unwrap_or_default();
    let tridiagonals = lanczos::tridiagonalise(op, probes, most);
    let mut sum = 0.0;
    for ((tridiagonal, z), nodes) in tridiagonals.iter().zip(probes.columns()).zip(nodes) {
        let quadrature = |nodes: usize| tridiagonal.leading(nodes).quadrature(f64::ln);
        // The terms up to `fixed` are in every draw.
        let fixed = truncation.fixed_terms(op.n()).min(nodes);
        let mut value = quadrature(fixed)?;
        let mut before = value;
        for j in fixed + 1..=nodes.min(tridiagonal.len()) {
            let next = quadrature(j)?;
            value += (next - before) / truncation.survival(j, op.n());
            before = next;
        }
        sum += z.dot(&z) * value;
    }
    let mean = sum / probes.ncols() as f64;
    mean.is_finite().then_some(mean)
}
