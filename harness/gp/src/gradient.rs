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

impl Gradient {
    /// Adds `weight` times another gradient.
    pub(crate) fn add(&mut self, weight: f64, other: &Gradient) {
        self.noise_scale += weight * other.noise_scale;
        self.signal_scale += weight * other.signal_scale;
        for (sum, derivative) in self.length_scale.iter_mut().zip(&other.length_scale) {
            *sum += weight * derivative;
        }
    }
}
