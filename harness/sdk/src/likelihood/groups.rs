//! Likelihoods of many small groups of rows at once.

use ndarray::{Array1, ArrayRef1, ArrayRef2};

use crate::kernel::Kernel;
use crate::{Result, Workers};

/// The mean over groups of their likelihoods, and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupsGradient {
    /// Mean over the groups of the negative log marginal likelihood per row.
    pub nlml: f64,
    /// By the signal scale.
    pub signal_scale: f64,
    /// By the noise scale.
    pub noise_scale: f64,
    /// By the length scales: as many as the kernel has.
    pub length_scale: Array1<f64>,
    /// By a constant prior mean that `y` is without.
    pub mean: f64,
}

/// The likelihoods of groups of k rows each: `members`, groups x k, has the rows of `x`, n x d, and of `y`, whose
/// prior mean is subtracted already.
///
/// Several groups share the lanes of a vector, which is fast for groups of 8 to 32 rows; for larger ones call
/// [`likelihood`](super::likelihood). A group uses k^2 kernel entries, which the caller charges.
///
/// # Errors
/// [`NotPositiveDefinite`](crate::Error::NotPositiveDefinite) if a group's covariance is not, to working precision.
///
/// # Panics
/// If the shapes do not fit, or a row is not one of `x`.
pub fn groups(
    kernel: &Kernel,
    noise_scale: f64,
    x: &ArrayRef2<f64>,
    y: &ArrayRef1<f64>,
    members: &ArrayRef2<usize>,
    workers: Workers<'_>,
) -> Result<GroupsGradient> {
    todo!()
}
