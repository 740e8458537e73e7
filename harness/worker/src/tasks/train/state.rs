//! The state of training between two steps.

use gpbench_gp::train::{Adam, Hyperparameters, Parameters};
use gpbench_host::SolveCost;
use gpbench_numerics::Alone;
use gpbench_record::{Kernel, Step};
use ndarray::Array2;

use gpbench_host::SolverState;

/// The state of training after some outer steps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    /// Parameters that the next step begins with.
    pub(super) parameters: Parameters,
    /// The constant prior mean, where it is trained.
    pub(super) mean: Option<f64>,
    /// The optimiser.
    pub(super) adam: Adam,
    /// Solutions of the last step, n x (1 + s); none before the first.
    pub(super) solution: Option<Array2<f64>>,
    /// Solutions of the step before the last, where starts are extrapolated.
    pub(super) before: Option<Array2<f64>>,
    /// Inducing points of the last step, M x d, where the gradient is that of a bound.
    pub(super) inducing: Option<Array2<f64>>,
    /// The state that the solver has saved for the next step.
    pub(super) solver: SolverState,
    /// The steps so far.
    pub(super) steps: Vec<Step>,
    /// Cost of their solves.
    pub(super) cost: SolveCost,
    /// Wall-clock seconds outside of the solver so far.
    pub(super) outer: f64,
    /// Number of fits to parts of the data that have not converged, where training began with such fits.
    pub(super) unconverged_fits: Option<u64>,
}

impl State {
    /// Moves the unconstrained parameters, and the mean if it is trained, along a gradient.
    pub(super) fn ascend(&mut self, gradient: &[f64], rate: f64) {
        let scales = self.parameters.unconstrained.len();
        let mut moved = std::mem::take(&mut self.parameters.unconstrained);
        moved.extend(self.mean);
        self.adam.ascend(&mut moved, gradient, rate, Alone);
        self.mean = moved.split_off(scales).pop();
        self.parameters.unconstrained = moved;
    }

    /// The point that the next step begins with: the parameters, and then the mean, where it is trained.
    pub(super) fn point(&self) -> Vec<f64> {
        self.parameters.unconstrained.iter().copied().chain(self.mean).collect()
    }

    /// `kernel` under the current hyperparameters.
    pub(super) fn kernel(&self, kernel: &Kernel) -> Kernel {
        let Hyperparameters { noise_scale, signal_scale, length_scale } = self.parameters.hyperparameters();
        Kernel { noise_scale, signal_scale, length_scale, mean: self.mean, ..kernel.clone() }
    }
}
