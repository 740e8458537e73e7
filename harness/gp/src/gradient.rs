//! The gradient of a function of the hyperparameters.

/// Gradient by the scales themselves, not by their logarithms or squares.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    /// Derivative by the noise scale.
    pub noise_scale: f64,
    /// Derivative by the signal scale.
    pub signal_scale: f64,
    /// Derivative by each length scale.
    pub length_scale: Vec<f64>,
}
