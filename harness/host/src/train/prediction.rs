//! The posterior that training ends with.

use gpbench_record::{Case, EstimatorMethod, Failure, StopReason};
use ndarray::{Array2, ShapeBuilder, s};

use super::{Trainer, kernel_at};
use crate::case::invalid;
use crate::checkpoint::State;
use crate::plugin::Ending;
use crate::solution;

/// The posterior that a case ends with, solved for.
pub(super) struct Prediction {
    pub(super) ending: Ending,
    pub(super) case: Case,
    pub(super) kept_bytes: u64,
}

impl Trainer<'_> {
    /// Solves for the posterior under the final hyperparameters, and leaves the solution in its file. The
    /// last solutions are its start where they were warm starts: all of them, if they were of pathwise
    /// targets, or else the one of y.
    pub(super) fn predict(&self, state: &State) -> Result<Prediction, Failure> {
        let case = &self.job.case;
        let named = kernel_at(&case.kernel, state).hyperparameters();
        let prediction = case.prediction(&named).expect("the names are those of a kernel");
        let mut system = self.pose(&prediction, None)?;
        let mut x = Array2::zeros((system.n(), system.columns()).f());
        if let Some(last) = state.solution.as_ref().filter(|_| case.estimator.warm_start) {
            let known = if case.estimator.method == EstimatorMethod::Pathwise { last.ncols() } else { 1 };
            x.slice_mut(s![.., ..known]).assign(&last.slice(s![.., ..known]));
        }
        let terms = self.terms(&system, "solver", None);
        let mut ending =
            self.solve(&prediction.solver, &mut system, &mut x, terms, &mut state.kept.clone())?;
        if !x.iter().all(|value| value.is_finite()) {
            ending.reason = StopReason::Diverged;
        }
        solution::write(&self.job.solution_file, x.view()).map_err(invalid)?;
        Ok(Prediction { ending, case: prediction, kept_bytes: system.kept_bytes() as u64 })
    }
}
