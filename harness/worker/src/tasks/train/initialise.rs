//! The initial state of training.

use gpbench_gp::train::{Adam, Hyperparameters, Parameters, SubsetFit, SubsetFitted};
use gpbench_host::SolveCost;
use gpbench_record::{FaultCause, Subset};

use crate::failure::{CaseError, file_fault};
use crate::kernel::kernel;
use crate::process;
use gpbench_host::SolverState;

use super::checkpoint;
use super::state::State;
use super::trainer::Trainer;

impl Trainer<'_> {
    /// The state that an earlier process has reached, or else the initial state.
    pub(super) fn begin(&self) -> Result<State, CaseError> {
        if let Some(file) = &self.setup.job.checkpoint_file {
            let state = checkpoint::read(file).map_err(file_fault(FaultCause::Checkpoint))?;
            if let Some(state) = state {
                return Ok(state);
            }
        }
        let of = &self.setup.kernel;
        // Checks the numbers, and repeats one length scale for all inputs.
        let each = kernel(of, self.setup.rows.d())?.length_scale;
        let length_scale = match self.task.shared_length_scale {
            true => of.length_scale[..1].to_vec(),
            false => each,
        };
        let initial =
            Hyperparameters { noise_scale: of.noise_scale, signal_scale: of.signal_scale, length_scale };
        let began = process::now();
        let (parameters, mean, unconverged_fits) = match (self.replayed(0)?, self.task.subset) {
            (Some((parameters, mean)), _) => (parameters, mean, None),
            (None, None) => (Parameters::new(&initial), of.mean, None),
            (None, Some(subset)) => {
                let SubsetFitted { hyperparameters, unconverged } = self.fitted_to_parts(subset, &initial)?;
                (Parameters::new(&hyperparameters), of.mean, Some(unconverged as u64))
            }
        };
        let outer = process::now().wall - began.wall;
        let adam = Adam::new(parameters.unconstrained.len() + usize::from(mean.is_some()));
        Ok(State {
            parameters,
            mean,
            adam,
            solution: None,
            before: None,
            inducing: None,
            solver: SolverState::new(),
            steps: Vec::new(),
            cost: SolveCost::default(),
            outer,
            unconverged_fits,
        })
    }

    /// The average of fits to parts of the data, which start from `initial`.
    fn fitted_to_parts(&self, of: Subset, initial: &Hyperparameters) -> Result<SubsetFitted, CaseError> {
        let Subset { centroids, size, steps, learning_rate, tolerance } = of;
        let rows = &self.setup.rows;
        let (x, y) = (rows.split.x_train.view(), rows.split.y_train.view());
        let of = &self.setup.kernel;
        let family = kernel(of, rows.d())?.family;
        let rng = &mut rows.streams(of.family).stream("centroids");
        let subset = SubsetFit { centroids, size, steps, learning_rate, tolerance };
        Ok(subset.fit(family, initial, x, y, rng, self.setup.job.threads)?)
    }
}
