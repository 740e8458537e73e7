//! The gradient of a function of the hyperparameters.

/// Derivatives by the scales themselves, not by their logarithms or squares.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    /// By the noise scale.
    pub noise_scale: f64,
    /// By the signal scale.
    pub signal_scale: f64,
    /// By each length scale.
    pub length_scale: Vec<f64>,
}
