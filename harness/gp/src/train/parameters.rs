//! Hyperparameters, and the unconstrained parameters that an optimiser changes.

use gpbench_numerics::optimise::{inverse_softplus, sigmoid, softplus};

use crate::{Family, Gradient, Kernel};

/// The scales of a Gaussian process, all positive.
#[derive(Debug, Clone, PartialEq)]
pub struct Hyperparameters {
    /// Standard deviation of the observation noise.
    pub noise_scale: f64,
    /// Standard deviation of the latent function.
    pub signal_scale: f64,
    /// One length scale per input, or a single one for all inputs.
    pub length_scale: Vec<f64>,
}

impl Hyperparameters {
    /// The covariance function of this family over `d` inputs.
    ///
    /// # Panics
    /// As [`Kernel::new`].
    pub fn kernel(&self, family: Family, d: usize) -> Kernel {
        Kernel::new(family, self.signal_scale, &self.length_scale, d)
    }

    /// All scales in the order noise, signal, length scales.
    pub fn scales(&self) -> Vec<f64> {
        [self.noise_scale, self.signal_scale].into_iter().chain(self.length_scale.iter().copied()).collect()
    }
}

/// Unconstrained parameters `u`, one per scale, with `scale = softplus(u) = log(1 + exp(u))` (Lin et
/// al. 2024, appendix B): noise, signal, length scales.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// The parameters that an optimiser changes.
    pub unconstrained: Vec<f64>,
}

impl Parameters {
    /// The parameters of these scales.
    pub fn new(hyperparameters: &Hyperparameters) -> Parameters {
        Parameters { unconstrained: hyperparameters.scales().into_iter().map(inverse_softplus).collect() }
    }

    /// The scales.
    pub fn hyperparameters(&self) -> Hyperparameters {
        let scales: Vec<f64> = self.unconstrained.iter().map(|&u| softplus(u)).collect();
        Hyperparameters {
            noise_scale: scales[0],
            signal_scale: scales[1],
            length_scale: scales[2..].to_vec(),
        }
    }

    /// The gradient by the parameters from the gradient by the scales: each entry times `1 / (1 + exp(-u))`. The
    /// derivative by a length scale of all inputs is the sum over the inputs.
    pub fn chain(&self, gradient: &Gradient) -> Vec<f64> {
        let lengths = match self.unconstrained.len() {
            3 => vec![gradient.length_scale.iter().sum()],
            _ => gradient.length_scale.clone(),
        };
        let by_scales = [gradient.noise_scale, gradient.signal_scale].into_iter().chain(lengths);
        let by_parameters: Vec<f64> = self
            .unconstrained
            .iter()
            .zip(by_scales)
            .map(|(&u, derivative)| derivative * sigmoid(u))
            .collect();
        assert_eq!(
            by_parameters.len(),
            self.unconstrained.len(),
            "one length scale per input, or one for all"
        );
        by_parameters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_rule_agrees_with_differences() {
        let hyperparameters =
            Hyperparameters { noise_scale: 0.1, signal_scale: 2.0, length_scale: vec![0.7, 5.0] };
        let parameters = Parameters::new(&hyperparameters);
        // Of f = 3 noise - 2 signal + 4 length_1 - length_2.
        let slopes = [3.0, -2.0, 4.0, -1.0];
        let gradient = Gradient { noise_scale: 3.0, signal_scale: -2.0, length_scale: vec![4.0, -1.0] };
        let value = |unconstrained: Vec<f64>| -> f64 {
            let scales = Parameters { unconstrained }.hyperparameters().scales();
            scales.iter().zip(slopes).map(|(scale, slope)| scale * slope).sum()
        };
        for (i, derivative) in parameters.chain(&gradient).into_iter().enumerate() {
            let moved = |by: f64| {
                let mut unconstrained = parameters.unconstrained.clone();
                unconstrained[i] += by;
                value(unconstrained)
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((derivative - difference).abs() < 1e-8, "{i}: {derivative} {difference}");
        }
    }

    #[test]
    fn a_shared_length_scale_takes_the_sum() {
        let shared = Hyperparameters { noise_scale: 1.0, signal_scale: 1.0, length_scale: vec![1.0] };
        let gradient = Gradient { noise_scale: 1.0, signal_scale: 1.0, length_scale: vec![1.0, 2.0, 3.0] };
        let chained = Parameters::new(&shared).chain(&gradient);
        assert_eq!(chained.len(), 3);
        assert!((chained[2] - 6.0 * chained[0]).abs() < 1e-15);
    }
}
