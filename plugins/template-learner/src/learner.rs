//! The learner `minibatch-gp`.
//!
//! It begins as a placeholder that works: each step moves the scales of a Gaussian process by Adam, along the gradient of the
//! likelihood of a minibatch. Replace `step` by your method, `process.rs` by your model, and this text by its description.

use gpbench_sdk::ndarray::{Array1, ArrayView2};
use gpbench_sdk::optimise::{Method, Optimiser};
use gpbench_sdk::{Error, Fit, Learner, Model, Result, Saved, Stream, Work, Workers};

use crate::MinibatchGpParams;
use crate::process::Process;

/// The learner `minibatch-gp`.
pub struct MinibatchGp {
    params: MinibatchGpParams,
    state: Option<State>,
}

/// A fit that has begun.
struct State {
    process: Process,
    /// Free parameters, which the optimiser moves.
    free: Vec<f64>,
    adam: Optimiser,
}

impl State {
    fn new(fit: &Fit<'_>) -> State {
        let process = Process::new(fit);
        let free = process.start(fit);
        State { adam: Optimiser::new(Method::Adam, free.len()), process, free }
    }
}

impl MinibatchGp {
    fn state(&self) -> Result<&State> {
        self.state.as_ref().ok_or_else(Error::not_begun)
    }
}

impl Learner for MinibatchGp {
    type Params = MinibatchGpParams;
    const ID: &'static str = "minibatch-gp";
    // Fill in: what `gpbench list solvers` shows.
    const DOC: &'static str = "minibatch-gp: one line about the method";
    // Fill in: the work that reports cite; leave it out where there is none.
    // const SOURCE: &'static str = "A. Author. Title. Venue, year.";

    fn new(params: MinibatchGpParams) -> Result<Self> {
        Ok(MinibatchGp { params, state: None })
    }

    fn begin(&mut self, fit: &Fit<'_>) -> Result<()> {
        self.state = Some(State::new(fit));
        Ok(())
    }

    fn step(&mut self, fit: &Fit<'_>) -> Result<f64> {
        // First of all: when the passes are spent, `?` ends the fit here, before anything has changed.
        let rows = fit.batch(Stream::MAIN, self.params.batch)?;
        let State { process, free, adam } = self.state.as_mut().ok_or_else(Error::not_begun)?;
        let (objective, gradient) = process.objective(&rows, free, fit.workers())?;
        // Kernel entries are counted as the learner says.
        fit.charge(Work::entries(rows.len() * rows.len()))?;
        adam.descend(free, &gradient, self.params.learning_rate);
        Ok(objective)
    }

    fn predict(&self, x: ArrayView2<'_, f64>, workers: Workers<'_>) -> Result<(Array1<f64>, Array1<f64>)> {
        let state = self.state()?;
        state.process.predict(x, &state.free, workers)
    }

    fn model(&self) -> Result<Model> {
        let state = self.state()?;
        Ok(Model::gp(&state.process.scales(&state.free)))
    }

    fn save(&self, saved: &mut Saved) -> Result<()> {
        let state = self.state()?;
        saved.put_list("free", &state.free);
        saved.put_all(state.adam.save("adam"));
        Ok(())
    }

    fn load(&mut self, fit: &Fit<'_>, saved: &Saved) -> Result<()> {
        let mut state = State::new(fit);
        state.free = saved.get_list("free")?;
        state.adam.load("adam", |name| saved.find(name))?;
        self.state = Some(state);
        Ok(())
    }

    fn estimate(&self, n: usize, d: usize) -> f64 {
        // Bytes, for `gpbench plan`: the data, and for predictions the covariance of all rows.
        8.0 * (n * (d + 1) + n * n) as f64
    }
}
