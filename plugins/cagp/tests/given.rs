//! The oracle's data, and processes at given scales and actions.

use gpbench_plugin_cagp::{
    ActionMatrix, NoisyKernel, ProjectedGradient, ProjectedProcess, SparseActions, covariances, gradient,
    residual_directions,
};
use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array1, Array2};
use gpbench_sdk::{Family, Workers};
use gpbench_testkit::json::{self, Value, matrix, number, vector};

pub(crate) const FAMILIES: [&str; 2] = ["matern32", "rbf"];

/// Training data and scales.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) at: NoisyKernel,
    pub(crate) x: Array2<f64>,
    /// Targets less the prior mean.
    pub(crate) residual: Array1<f64>,
}

/// What was computed elsewhere for a small system, in extended precision.
pub(crate) fn oracle() -> Value {
    json::parse(include_str!("data/cagp_small.json"))
}

impl Given {
    /// The oracle's data and scales.
    pub(crate) fn of_oracle(family: &str) -> Given {
        let inputs = &oracle()["inputs"];
        let kernel = Kernel {
            family: if family == "rbf" { Family::Rbf } else { Family::Matern32 }.into(),
            signal_scale: number(&inputs["signal_scale"]),
            length_scale: vector(&inputs["length_scale"]).to_vec(),
        };
        let at = NoisyKernel { kernel, noise_scale: number(&inputs["noise_scale"]) };
        Given { at, x: matrix(&inputs["X"]), residual: vector(&inputs["y"]) }
    }

    pub(crate) fn project(&self, actions: &ActionMatrix, threads: usize) -> ProjectedProcess {
        let workers = Workers::new(threads);
        let products = covariances(&self.at.kernel, self.x.view(), self.x.view(), actions, workers);
        ProjectedProcess::new(&self.at, self.residual.view(), actions, products, workers).unwrap()
    }

    /// The residuals of conjugate gradients, with the covariances that their recurrence has.
    pub(crate) fn conjugate_gradients(&self, count: usize) -> (ActionMatrix, ProjectedProcess) {
        let workers = Workers::new(2);
        let (x, residual) = (self.x.view(), self.residual.view());
        let found = residual_directions(&self.at.kernel, x, residual, count, workers);
        let actions = ActionMatrix::Dense(found.actions);
        let projected =
            ProjectedProcess::new(&self.at, residual, &actions, found.covariances, workers).unwrap();
        (actions, projected)
    }

    pub(crate) fn gradient(&self, actions: &ActionMatrix, threads: usize) -> ProjectedGradient {
        let projected = self.project(actions, threads);
        let (x, residual) = (self.x.view(), self.residual.view());
        gradient(&self.at, x, residual, actions, &projected, Workers::new(threads)).unwrap()
    }

    /// Means and latent variances.
    pub(crate) fn predict(
        &self,
        actions: &ActionMatrix,
        projected: &ProjectedProcess,
        points: &Array2<f64>,
    ) -> (Array1<f64>, Array1<f64>) {
        projected.predict(&self.at, points.view(), self.x.view(), actions, Workers::new(2)).unwrap()
    }
}

/// The oracle's sparse actions.
pub(crate) fn sparse() -> ActionMatrix {
    let inputs = &oracle()["inputs"];
    let action = vector(&inputs["action_of_row"]).iter().map(|&action| action as usize).collect();
    ActionMatrix::Sparse(SparseActions::new(action, vector(&inputs["action_entry"])))
}

/// Actions that are the first `count` of n rows.
pub(crate) fn units(n: usize, count: usize) -> ActionMatrix {
    let action = (0..n).map(|row| row.min(count - 1)).collect();
    let entry = (0..n).map(|row| if row < count { 1.0 } else { 0.0 }).collect();
    ActionMatrix::Sparse(SparseActions::new(action, entry))
}

/// S as a dense matrix.
pub(crate) fn dense(actions: &ActionMatrix) -> Array2<f64> {
    match actions {
        ActionMatrix::Dense(dense) => dense.clone(),
        ActionMatrix::Sparse(sparse) => {
            let mut dense = Array2::zeros((sparse.action.len(), sparse.count));
            for (row, (&action, &entry)) in sparse.action.iter().zip(&sparse.entry).enumerate() {
                dense[[row, action]] = entry;
            }
            dense
        }
    }
}
