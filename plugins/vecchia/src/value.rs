//! The value of a log likelihood, and its derivatives.

use gpbench_sdk::Scales;
use gpbench_sdk::ndarray::{Array1, Array2};

/// The log likelihood of some rows, and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLikelihood {
    /// Sum over the rows, with all constants.
    pub value: f64,
    /// Derivatives by the scales and the mean. `length_scale` has as many entries as the kernel.
    pub by: Scales,
    /// Derivatives by the inducing points, M x d.
    pub by_points: Array2<f64>,
    /// Variance of each row given its neighbours, the noise included.
    pub variance: Array1<f64>,
    /// Each row's target less its mean given its neighbours.
    pub error: Array1<f64>,
}
