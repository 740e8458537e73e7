//! The logarithmic determinant of F~, and the estimated derivatives of log|F|.

use gpbench_sdk::Workers;
use gpbench_sdk::ndarray::Array2;

/// Order from which threads share the work on a matrix; for smaller ones it would take longer to wake them.
const SHARED: usize = 512;

/// The threads that work on a matrix of this order.
pub(crate) fn sharing(order: usize, workers: Workers<'_>) -> Workers<'_> {
    if order < SHARED { Workers::new(1) } else { workers }
}

/// The logarithmic determinant of F~, and the estimated derivatives of log|F|.
#[derive(Debug, Clone)]
pub struct LogDeterminant {
    /// log|F~|.
    pub value: f64,
    /// Derivative by the batch's features: 2c Phi_S F~^-1.
    pub by_features: Array2<f64>,
    /// Derivative by s^2: tr F~^-1.
    pub by_noise_variance: f64,
}
