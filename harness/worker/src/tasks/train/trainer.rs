//! Data shared by all steps of training.

use gpbench_gp::exact::{ExactError, ExactGp};
use gpbench_gp::train::{Hyperparameters, Parameters};
use gpbench_record::{Kernel, Training};

use crate::failure::{CaseError, invalid};
use crate::kernel::kernel;
use crate::runner::Runner;
use crate::setup::Setup;

use super::state::State;

/// Data shared by all steps of training.
pub(super) struct Trainer<'s> {
    pub(super) setup: &'s Setup<'s>,
    pub(super) task: &'s Training,
    pub(super) runner: Runner<'s>,
}

impl Trainer<'_> {
    /// The parameters of step `step` and the prior mean, where they are replayed from another run.
    pub(super) fn replayed(&self, step: u64) -> Result<Option<(Parameters, Option<f64>)>, CaseError> {
        let path = &self.task.replay;
        if path.is_empty() {
            return Ok(None);
        }
        let named = usize::try_from(step).ok().and_then(|step| path.get(step));
        let found = named.and_then(|named| self.setup.kernel.with_hyperparameters(named));
        let Some(found) = found else {
            return Err(invalid(format!("the path to replay has no hyperparameters of step {step}")));
        };
        kernel(&found, self.setup.rows.d())?;
        let Kernel { noise_scale, signal_scale, length_scale, mean, .. } = found;
        let parameters = Parameters::new(&Hyperparameters { noise_scale, signal_scale, length_scale });
        Ok(Some((parameters, mean)))
    }

    /// The remaining time budget, which all steps share.
    pub(super) fn seconds_left(&self, state: &State) -> Option<f64> {
        let seconds = self.setup.job.case.budget.seconds;
        seconds.map(|seconds| seconds - state.cost.prepare.wall - state.cost.solve.wall)
    }

    /// The exact log marginal likelihood under a kernel; `None` where its matrix is not positive definite in double
    /// precision. No clock runs.
    ///
    /// # Errors
    /// Where the threads for the computation cannot be started, in which case the likelihood is unknown.
    pub(super) fn exact_likelihood(&self, of: &Kernel) -> Result<Option<f64>, CaseError> {
        let data = self.setup.rows.subtract_mean(of);
        let (x, y) = (data.x_train.view(), data.y_train.view());
        let Ok(kernel) = kernel(of, x.ncols()) else { return Ok(None) };
        match ExactGp::fit(&kernel, of.noise_scale, x, y, self.setup.job.threads) {
            Ok(gp) => Ok(Some(gp.log_marginal_likelihood)),
            Err(ExactError::Singular(_)) => Ok(None),
            Err(ExactError::Threads(refused)) => Err(refused.into()),
        }
    }
}
