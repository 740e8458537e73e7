//! Where training starts.

use gpbench_gp::train::{Adam, Hyperparameters, Parameters, SubsetFit};
use gpbench_record::{FaultCause, Subset};

use crate::cost::SolveCost;
use crate::failure::{CaseError, file_fault};
use crate::kernel::kernel;
use crate::plugin::SolverState;
use crate::process;

use super::checkpoint;
use super::state::State;
use super::trainer::Trainer;

impl Trainer<'_> {
    /// The state that an earlier process has reached, or else the first.
    pub(super) fn begin(&self) -> Result<State, CaseError> {
        if let Some(file) = &self.setup.job.checkpoint_file {
            let state = checkpoint::read(file).map_err(file_fault(FaultCause::Checkpoint))?;
            if let Some(state) = state {
                return Ok(state);
            }
        }
        let of = &self.setup.job.case.kernel;
        // Checks the numbers, and repeats one length scale for all inputs.
        let each = kernel(of, self.setup.rows.d())?.length_scale;
        let length_scale = match self.task.shared_length_scale {
            true => of.length_scale[..1].to_vec(),
            false => each,
        };
        let initial =
            Hyperparameters { noise_scale: of.noise_scale, signal_scale: of.signal_scale, length_scale };
        let began = process::now();
        let (parameters, mean) = match self.replayed(0)? {
            Some(replayed) => replayed,
            None => (Parameters::new(&self.fitted_to_parts(initial)?), of.mean),
        };
        let outer = process::now().wall - began.wall;
        let adam = Adam::new(parameters.unconstrained.len() + usize::from(mean.is_some()));
        Ok(State {
            parameters,
            mean,
            adam,
            solution: None,
            before: None,
            solver: SolverState::new(),
            steps: Vec::new(),
            cost: SolveCost::default(),
            outer,
        })
    }

    /// The average of fits of parts of the data that start from `initial`, if there are such, or else `initial`.
    fn fitted_to_parts(&self, initial: Hyperparameters) -> Result<Hyperparameters, CaseError> {
        let Some(Subset { centroids, size, steps }) = self.task.subset else { return Ok(initial) };
        let rows = &self.setup.rows;
        let (x, y) = (rows.split.x_train.view(), rows.split.y_train.view());
        let of = &self.setup.job.case.kernel;
        let family = kernel(of, rows.d())?.family;
        let rng = &mut rows.streams(of.family).stream("centroids");
        let subset = SubsetFit { centroids, size, steps, learning_rate: self.task.learning_rate };
        Ok(subset.fit(family, &initial, x, y, rng, self.setup.job.threads)?)
    }
}
