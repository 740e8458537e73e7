//! Negative log marginal likelihoods of batches of rows, with their gradients, by Cholesky factors.
//!
//! Per row and with all constants: nlml = (y^T H^-1 y + log|H| + b log 2 pi) / (2b), where y is without the prior mean
//! and H includes the noise.

mod groups;

use ndarray::{Array1, Array2, ArrayRef1};

pub use groups::{GroupsGradient, groups};

use crate::Result;

/// The likelihood of a batch, and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Likelihood {
    /// Negative log marginal likelihood per row.
    pub nlml: f64,
    /// Representer weights a = H^-1 y. The derivatives of nlml by y are a / b, those by a constant mean -sum(a) / b.
    pub weights: Array1<f64>,
    /// Derivatives of nlml by the entries of H, (H^-1 - a a^T) / 2b, all of it: a cotangent of
    /// [`Kernel::pull_back_square`](crate::kernel::Kernel::pull_back_square). That by the noise scale is 2 noise_scale times its
    /// trace.
    pub cotangent: Array2<f64>,
}

/// The likelihood of targets `y` under a covariance H = K + noise_scale^2 I, with its derivatives. `covariance` is
/// column-major and is overwritten; only its lower triangle is read.
///
/// # Errors
/// [`NotPositiveDefinite`](crate::Error::NotPositiveDefinite) if H is not, to working precision.
pub fn likelihood(covariance: Array2<f64>, y: &ArrayRef1<f64>) -> Result<Likelihood> {
    todo!()
}

/// The value alone, at a third of the cost.
///
/// # Errors
/// As [`likelihood`].
pub fn nlml(covariance: Array2<f64>, y: &ArrayRef1<f64>) -> Result<f64> {
    todo!()
}
