//! Fits that rules ask of learners.

use gpbench_host::{FitLimits, FitProblem};
use gpbench_terms::{Activation, Covariance, NetworkShape};
use ndarray::{Array1, Array2};

/// A fit that a rule asks of a learner.
#[derive(Debug, Clone, PartialEq)]
pub struct FitRequest {
    /// Training inputs, n x d.
    pub x: Array2<f64>,
    /// Training targets.
    pub y: Array1<f64>,
    /// Inducing points, m x d.
    pub basis: Option<Array2<f64>>,
    /// The kernel's covariance function.
    pub covariance: Covariance,
    /// The network whose outputs are the kernel's inputs.
    pub network: Option<NetworkShape>,
    /// Whether there is one length scale for all inputs of the kernel.
    pub shared_length_scale: bool,
    /// Whether the mean is trained.
    pub trained_mean: bool,
    /// Passes over the rows that are granted.
    pub passes: f64,
    /// Whether the fit pauses after every step.
    pub pause: bool,
    /// Threads that the learner may use.
    pub threads: usize,
    /// Seed of the learner's own random numbers.
    pub seed: u64,
}

impl FitRequest {
    /// The same fit with a kernel on the outputs of a small network, and `random` random features of them, if any.
    #[must_use]
    pub fn on_network(self, covariance: Covariance, random: Option<usize>) -> FitRequest {
        let network = NetworkShape { activation: Activation::Relu, widths: vec![9, 7], random };
        FitRequest { covariance, network: Some(network), ..self }
    }

    /// Limits of the fit.
    pub(super) fn limits(&self) -> FitLimits {
        FitLimits {
            passes: self.passes,
            max_epochs: None,
            seconds: None,
            threads: self.threads,
            seed: self.seed,
        }
    }

    /// Calls `with` with the problem.
    pub(super) fn pose<T>(&self, with: impl FnOnce(FitProblem<'_>) -> T) -> T {
        let kernel_inputs = self.network.as_ref().map_or(self.x.ncols(), NetworkShape::outputs);
        with(FitProblem {
            x: self.x.view(),
            y: self.y.view(),
            basis: self.basis.as_ref().map(|basis| basis.view()),
            covariance: self.covariance,
            signal_scale: 1.0,
            noise_scale: 0.5,
            length_scale: &vec![1.0; kernel_inputs],
            shared_length_scale: self.shared_length_scale,
            mean: 0.0,
            trained_mean: self.trained_mean,
            network: self.network.as_ref(),
        })
    }
}
