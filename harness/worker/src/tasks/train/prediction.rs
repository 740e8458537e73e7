//! The posterior at the end of training.

use gpbench_host::{SolveLimits, SolveOutcome, VolatileObjects};
use gpbench_record::{FaultCause, GradientEstimator, Kernel, Probes, StopReason};
use ndarray::{Array2, ShapeBuilder, s};

use crate::evaluate::is_finite;
use crate::failure::{CaseError, file_fault};
use crate::runner::Carried;
use crate::solution;

use super::state::State;
use super::trainer::Trainer;

/// The solution for the posterior at the end of a case.
pub(super) struct Prediction {
    pub(super) outcome: SolveOutcome,
    pub(super) kernel: Kernel,
    pub(super) cached_bytes: usize,
}

impl Trainer<'_> {
    /// Solves for the posterior under the final hyperparameters, and writes the solution to its file. With warm
    /// starts the solve starts from the last solutions: all of them, if they were for pathwise
    /// targets, or else that for y.
    pub(super) fn predict(
        &self,
        state: &State,
        volatile: &mut VolatileObjects,
    ) -> Result<Prediction, CaseError> {
        let job = self.setup.job;
        let named = state.kernel(&job.case.kernel).hyperparameters();
        let case = job.case.prediction(&named).expect("the names are those of a kernel");
        let targets = Probes::Pathwise(self.task.prediction.targets);
        let mut system = self.setup.system(&case.kernel, targets, None, None)?;
        let mut x = Array2::zeros((system.n(), system.columns()).f());
        if let (GradientEstimator::Solutions { probes, start, .. }, Some(last)) =
            (self.task.gradient, &state.solution)
            && start.is_warm()
        {
            let known = if probes == targets { last.ncols() } else { 1 };
            x.slice_mut(s![.., ..known]).assign(&last.slice(s![.., ..known]));
        }
        let limits = SolveLimits { seconds: None, ..self.runner.limits(&system, "solver") };
        let carried = Carried { state: &mut state.solver.clone(), volatile, elsewhere: 0 };
        let mut outcome =
            self.runner.solve(&case.solver.params, &mut system, &mut x, limits, Some(carried))?;
        if !is_finite(x.view()) {
            outcome.stop_reason = StopReason::Diverged;
        }
        solution::write(&job.solution_file, x.view()).map_err(file_fault(FaultCause::Storage))?;
        let cached_bytes = system.view().matrix.cached_bytes();
        Ok(Prediction { outcome, kernel: case.kernel, cached_bytes })
    }
}
