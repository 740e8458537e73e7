//! The learner `minibatch-gp`.
//!
//! It begins as a placeholder that works: each step moves the scales of a Gaussian process by Adam, along the gradient of the
//! likelihood of a minibatch. Replace `step` by your method, `process.rs` by your model, and this text by its description.

use gpbench_sdk::ndarray::{Array1, ArrayView2};
use gpbench_sdk::optimise::{Method, Optimiser};
use gpbench_sdk::{Fit, Learner, Model, Result, Saved, Stream, Work, Workers};

use crate::MinibatchGpParams;
use crate::process::Process;

/// The learner `minibatch-gp`.
pub struct MinibatchGp {
    params: MinibatchGpParams,
}

/// State of a fit.
pub struct State {
    process: Process,
    /// Free parameters, which the optimiser moves.
    free: Vec<f64>,
    adam: Optimiser,
}

impl Learner for MinibatchGp {
    type Params = MinibatchGpParams;
    const ID: &'static str = "minibatch-gp";
    // Fill in: what `gpbench list solvers` shows.
    const DOC: &'static str = "minibatch-gp: one line about the method";
    // Fill in: the work that reports cite; leave it out where there is none.
    // const SOURCE: &'static str = "A. Author. Title. Venue, year.";
    // Fill in: what readers who choose a method want to know of it; leave it out, or a part of it.
    // const FACTS: Facts = Facts { step: "n^2 entries", advice: "moderate noise", ..Facts::NONE };
    type State = State;

    fn new(params: MinibatchGpParams) -> Result<Self> {
        Ok(MinibatchGp { params })
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<State> {
        let process = Process::new(fit);
        let free = process.start(fit);
        Ok(State { adam: Optimiser::new(Method::Adam, free.len()), process, free })
    }

    fn step(&self, state: &mut State, fit: &Fit<'_>) -> Result<f64> {
        // First of all: when the passes are spent, `?` ends the fit here, before anything has changed.
        let rows = fit.batch(Stream::MAIN, self.params.batch)?;
        let (objective, gradient) = state.process.objective(&rows, &state.free, fit.workers())?;
        // Kernel entries are counted as the learner says.
        fit.charge(Work::entries(rows.len() * rows.len()))?;
        state.adam.descend(&mut state.free, &gradient, self.params.learning_rate);
        Ok(objective)
    }

    fn predict(
        &self,
        state: &State,
        x: ArrayView2<'_, f64>,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        state.process.predict(x, &state.free, workers)
    }

    fn model(&self, state: &State) -> Result<Model> {
        Ok(Model::gp(&state.process.scales(&state.free)))
    }

    fn save(&self, state: &State, saved: &mut Saved) -> Result<()> {
        saved.put_list("free", &state.free);
        saved.put_all(state.adam.save("adam"));
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, saved: &Saved) -> Result<State> {
        let mut state = self.begin(fit)?;
        state.free = saved.get_list("free")?;
        state.adam.load("adam", |name| saved.find(name))?;
        Ok(state)
    }

    fn estimate(&self, n: usize, d: usize) -> f64 {
        // Bytes, for `gpbench plan`: the data, and for predictions the covariance of all rows.
        8.0 * (n * (d + 1) + n * n) as f64
    }
}
