//! Where training begins.

use gpbench_gp::train::{Adam, Hyperparameters, Parameters, SubsetFit};
use gpbench_record::{Clock, Entries, Failure, Subset};

use super::Trainer;
use crate::case::invalid;
use crate::checkpoint::{self, State};
use crate::plugin::Kept;
use crate::process;
use crate::system;

impl Trainer<'_> {
    /// Where an earlier process has stopped, or else the beginning.
    pub(super) fn begin(&self) -> Result<State, Failure> {
        if let Some(file) = &self.job.checkpoint_file {
            match checkpoint::read(file) {
                Ok(Some(state)) => return Ok(state),
                Ok(None) => {}
                Err(error) => eprintln!("[warning] training starts again: {error}"),
            }
        }
        let kernel = &self.job.case.kernel;
        // Checks the numbers, and spreads one length scale over the inputs.
        let each = system::kernel(kernel, self.data.x_train.ncols()).map_err(invalid)?.length_scale;
        let length_scale = match self.training.shared_length_scale {
            true => kernel.length_scale[..1].to_vec(),
            false => each,
        };
        let initial = Hyperparameters {
            noise_scale: kernel.noise_scale,
            signal_scale: kernel.signal_scale,
            length_scale,
        };
        let began = process::now();
        let (parameters, mean) = match self.replayed(0)? {
            Some(replayed) => replayed,
            None => (Parameters::new(&self.fitted_to_parts(initial)?), kernel.mean),
        };
        let outer = process::now().wall - began.wall;
        let adam = Adam::new(parameters.unconstrained.len() + usize::from(mean.is_some()));
        Ok(State {
            parameters,
            mean,
            adam,
            solution: None,
            before: None,
            kept: Kept::new(),
            steps: Vec::new(),
            prepare: Clock::default(),
            solve: Clock::default(),
            entries: Entries::default(),
            outer,
        })
    }

    /// Where the steps begin, from where fits of parts of the data begin, if there are such.
    fn fitted_to_parts(&self, initial: Hyperparameters) -> Result<Hyperparameters, Failure> {
        let Some(Subset { centroids, size, steps }) = self.training.subset else { return Ok(initial) };
        let case = &self.job.case;
        let (x, y) = (self.data.x_train.view(), self.data.y_train.view());
        let family = system::kernel(&case.kernel, x.ncols()).map_err(invalid)?.family;
        let rng = &mut system::streams(&case.dataset, family, case.seed).stream("centroids");
        let subset = SubsetFit { centroids, size, steps, learning_rate: self.training.learning_rate };
        subset.fit(family, &initial, x, y, rng, self.job.threads).map_err(invalid)
    }
}
