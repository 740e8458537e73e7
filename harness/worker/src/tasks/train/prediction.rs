//! The posterior at the end of training.

use gpbench_host::{SolveLimits, SolveOutcome, VolatileObjects};
use gpbench_record::{
    Case, Failure, FaultCause, GradientEstimator, Kernel, Metrics, Probes, Start, StopReason,
};
use ndarray::{Array2, ShapeBuilder, s};

use crate::evaluate::is_finite;
use crate::failure::{CaseError, file_fault};
use crate::runner::Carried;
use crate::solution;
use crate::system::System;

use super::state::State;
use super::trainer::Trainer;

/// The solution for the posterior at the end of a case.
pub(super) struct Prediction {
    pub(super) outcome: SolveOutcome,
    pub(super) kernel: Kernel,
    pub(super) cached_bytes: usize,
    /// Why training has diverged, if it has.
    pub(super) divergence: Option<String>,
    /// The bound under the final hyperparameters, where training was by one.
    pub(super) bound: Metrics,
}

impl Trainer<'_> {
    /// Solves for the posterior under the final hyperparameters, and writes the solution to its file.
    ///
    /// Where training has `failed` with a singular matrix or a number that is not finite, or the final system is
    /// singular itself, the hyperparameters are those of the last step, whose system was solved. Where none was, the
    /// result is the prior, whose weights are zero.
    pub(super) fn predict(
        &self,
        state: &State,
        volatile: &mut VolatileObjects,
        failed: Option<Failure>,
    ) -> Result<Prediction, CaseError> {
        let taken = state.steps.len();
        let failed = match failed {
            Some(Failure { reason, .. }) => format!("step {taken}: {reason}"),
            None => match self.predict_under(&state.kernel(&self.setup.kernel), state, volatile) {
                Err(CaseError::Numerical(Failure { reason, .. })) => {
                    format!("the prediction after {taken} steps: {reason}")
                }
                prediction => return prediction,
            },
        };
        let kernel = &self.setup.kernel;
        let solved = state.steps.last().and_then(|step| kernel.with_hyperparameters(&step.hyperparameters));
        let (prediction, what) = match solved {
            None => (self.prior(kernel)?, "the prior, without a step".to_owned()),
            Some(kernel) => match self.predict_under(&kernel, state, volatile) {
                Err(CaseError::Numerical(_)) => {
                    (self.prior(&kernel)?, format!("the prior of step {}", taken - 1))
                }
                prediction => (prediction?, format!("that of step {}", taken - 1)),
            },
        };
        let outcome = SolveOutcome { stop_reason: StopReason::Diverged, ..prediction.outcome };
        let divergence = Some(format!("{failed}; the result is {what}"));
        Ok(Prediction { outcome, divergence, ..prediction })
    }

    /// Solves for the posterior under a kernel. With warm starts the solve starts from the last solutions: all of them,
    /// if they were for pathwise targets, or else that for y.
    fn predict_under(
        &self,
        kernel: &Kernel,
        state: &State,
        volatile: &mut VolatileObjects,
    ) -> Result<Prediction, CaseError> {
        if !state.steps.is_empty() {
            self.check(kernel)?;
        }
        let job = self.setup.job;
        let (case, mut system) = self.final_system(kernel)?;
        let mut x = Array2::zeros((system.n(), system.columns()).f());
        let gradient = self.task.gradient;
        if let Some(last) = &state.solution
            && gradient.start().is_some_and(Start::is_warm)
        {
            let targets = self.targets();
            let is_same =
                matches!(gradient, GradientEstimator::Solutions { probes, .. } if probes == targets);
            let known = if is_same { last.ncols() } else { 1 };
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
        let bound = self.final_bound(&system, x.column(0), state);
        Ok(Prediction { outcome, kernel: case.kernel, cached_bytes, divergence: None, bound })
    }

    /// Weights of zero, which predict the prior under a kernel.
    fn prior(&self, kernel: &Kernel) -> Result<Prediction, CaseError> {
        let (case, system) = self.final_system(kernel)?;
        let x = Array2::zeros((system.n(), system.columns()).f());
        solution::write(&self.setup.job.solution_file, x.view()).map_err(file_fault(FaultCause::Storage))?;
        let outcome = SolveOutcome::without_a_solve(StopReason::Diverged);
        let (kernel, bound) = (case.kernel, Metrics::default());
        Ok(Prediction { outcome, kernel, cached_bytes: 0, divergence: None, bound })
    }

    /// Right-hand sides of the final prediction.
    fn targets(&self) -> Probes {
        Probes::Pathwise(self.task.prediction.targets)
    }

    /// The case of the prediction under a kernel, and its system.
    fn final_system(&self, kernel: &Kernel) -> Result<(Case, System), CaseError> {
        let named = kernel.hyperparameters();
        let case = self.setup.job.case.prediction(&named).expect("the names are those of a kernel");
        let system = self.setup.system(&case.kernel, self.targets(), None, None)?;
        Ok((case, system))
    }
}
