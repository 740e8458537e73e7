//! Fits that rules ask of learners.

use gpbench_host::{FitLimits, FitProblem};
use gpbench_terms::{Activation, Covariance, Family, NetworkShape};
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
    /// Widths of the network whose outputs have a linear kernel; `None` for a stationary kernel on the inputs.
    pub network: Option<Vec<usize>>,
    /// Whether the kernel on the inputs is the RBF kernel, for which learners have random features.
    pub rbf: bool,
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
    /// The kernel: the linear one on a network's outputs, or else a stationary one.
    pub fn covariance(&self) -> Covariance {
        match self {
            FitRequest { network: Some(_), .. } => Covariance::Linear,
            FitRequest { rbf: true, .. } => Covariance::Stationary(Family::Rbf),
            FitRequest { rbf: false, .. } => Covariance::Stationary(Family::Matern32),
        }
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
        let kernel_inputs =
            self.network.as_ref().map_or(self.x.ncols(), |widths| *widths.last().unwrap_or(&1));
        let shape = self.network.clone().map(|widths| NetworkShape {
            widths,
            activation: Activation::Relu,
            random: None,
        });
        with(FitProblem {
            x: self.x.view(),
            y: self.y.view(),
            basis: self.basis.as_ref().map(|basis| basis.view()),
            covariance: self.covariance(),
            signal_scale: 1.0,
            noise_scale: 0.5,
            length_scale: &vec![1.0; kernel_inputs],
            shared_length_scale: self.network.is_some(),
            mean: 0.0,
            trained_mean: false,
            network: shape.as_ref(),
        })
    }
}
