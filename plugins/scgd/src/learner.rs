//! Stochastic compositional gradient descent on the likelihood of a process with finitely many features.
//!
//! Shoham and Avron 2025, section 3.2; Wang, Fang and Liu 2017 for the method.

use std::f64::consts::TAU;

use gpbench_sdk::finite::{Passes, Process};
use gpbench_sdk::ndarray::{Array1, ArrayView2};
use gpbench_sdk::optimise::Optimiser;
use gpbench_sdk::{Capabilities, Facts, Fit, Learner, Model, Result, Saved, Work, Workers, symmetric};

use crate::{Average, Order, Recent, ScgdParams};

/// Stochastic compositional gradient descent.
#[derive(Debug)]
pub struct Scgd {
    params: ScgdParams,
}

/// State of a fit.
#[derive(Debug)]
pub struct State {
    process: Process,
    optimiser: Optimiser,
    average: Average,
    passes: Passes,
    /// Steps taken.
    steps: u64,
    /// Rows of the batch, kept for its memory.
    rows: Vec<usize>,
}

impl State {
    /// The state before the first step, with F of all rows as the average.
    fn begin(fit: &Fit<'_>, params: &ScgdParams) -> Result<State> {
        let mut state = State::new(fit, params)?;
        let process = &state.process;
        let noise_variance = process.noise_variance();
        let matrix = process.moments(fit.workers()).matrix(noise_variance);
        let rows = params.recent_rows(params.batch.min(fit.n()), matrix.nrows());
        let recent = rows.map(|most| Recent::new(&matrix, noise_variance, most));
        state.average = Average::new(matrix).with_recent(recent);
        fit.charge(Work { rows: fit.n(), features: fit.n(), entries: 0 })?;
        Ok(state)
    }

    /// The state before the first step, without the average.
    fn new(fit: &Fit<'_>, params: &ScgdParams) -> Result<State> {
        let process = Process::new(fit, params.options())?;
        let optimiser = Optimiser::new(params.optimiser, process.n_parameters());
        let passes = Passes::new(fit.n(), process.outputs());
        let average = Average::new(Default::default());
        Ok(State { process, optimiser, average, passes, steps: 0, rows: Vec::new() })
    }

    fn step(&mut self, fit: &Fit<'_>, params: &ScgdParams) -> Result<f64> {
        let State { process, optimiser, average, passes, steps, rows } = self;
        fit.batch_into(params.sampling.stream(0), params.batch, rows)?;
        *steps += 1;
        let (n, workers) = (fit.n(), fit.workers());
        let batch = process.batch(rows, workers);
        fit.charge(Work::features(rows.len()))?;

        let (weight, factor) = params.schedule(*steps);
        let (features, noise_variance) = (batch.features(), process.noise_variance());
        if params.order == Order::AverageFirst {
            average.renew(weight, n, &features, noise_variance)?;
        }
        let determinant = average.log_determinant(n, &features, workers)?;
        if params.order == Order::StepFirst {
            average.renew(weight, n, &features, noise_variance)?;
        }
        let mut objective = process.objective(&batch);
        objective.add(determinant.value, &determinant.by_features, determinant.by_noise_variance);
        if !process.descend(&batch, &objective, optimiser, factor * params.learning_rate, workers) {
            return Ok(f64::NAN);
        }
        if let Some(pass) = passes.see(batch.targets().len(), batch.evaluated().outputs()) {
            fit.note("dead_features", pass.dead_features as f64)?;
        }
        Ok((objective.value / n as f64 + TAU.ln()) / 2.0)
    }
}

impl Learner for Scgd {
    type Params = ScgdParams;
    const ID: &'static str = "scgd";
    const DOC: &'static str =
        "Stochastic compositional gradient descent, for finitely many features (Shoham and Avron 2025)";
    const SOURCE: &'static str = "N. Shoham, H. Avron. Unbiased Stochastic Optimization for Gaussian Processes on Finite \
        Dimensional RKHS. arXiv 2508.20588, 2025.";
    const FACTS: Facts = Facts {
        step: "no entries; 5 b D^2 + 2 D^3 / 3 operations for a batch of b rows and D features, fewer where \
            27 b < D; at the start n D^2",
        memory: "5 D^2 + 4096 D",
        guarantees: "the features' matrix is estimated without bias, its inverse with bias",
        advice: "batches far smaller than D, where bsgd loses scale; not for thousands of features",
    };
    const CAPABILITIES: Capabilities =
        Capabilities::FINITE.and(Capabilities::NETWORK).and(Capabilities::MEAN).and(Capabilities::RANDOMIZED);
    type State = State;

    fn new(params: ScgdParams) -> Result<Self> {
        Ok(Scgd { params })
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<State> {
        State::begin(fit, &self.params)
    }

    fn step(&self, state: &mut State, fit: &Fit<'_>) -> Result<f64> {
        state.step(fit, &self.params)
    }

    fn predict(
        &self,
        state: &State,
        x: ArrayView2<'_, f64>,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        state.process.predict(&x, workers)
    }

    fn model(&self, state: &State) -> Result<Model> {
        Ok(state.process.model())
    }

    fn save(&self, state: &State, saved: &mut Saved) -> Result<()> {
        state.process.save(saved);
        state.passes.save(saved);
        saved.put_all(state.optimiser.save("optimiser"));
        saved.put("average", state.average.matrix().view());
        if let Some(recent) = state.average.recent() {
            recent.save(saved);
        }
        saved.put_integers("steps", [state.steps]);
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, saved: &Saved) -> Result<State> {
        let mut state = State::new(fit, &self.params)?;
        state.process.load(saved)?;
        state.passes.load(saved)?;
        state.optimiser.load("optimiser", |name| saved.find(name))?;
        let order = state.process.map().dimension();
        let average = Average::new(symmetric::column_major(&saved.get_shaped("average", (order, order))?));
        let rows = self.params.recent_rows(self.params.batch.min(fit.n()), order);
        let recent = rows.map(|most| Recent::load(saved, order, most)).transpose()?;
        state.average = average.with_recent(recent);
        state.steps = saved.get_integers("steps")?.first().copied().unwrap_or(0);
        Ok(state)
    }

    fn estimate(&self, n: usize, d: usize) -> f64 {
        // Data; F~, its factor and its inverse, recent batches; a block of 4096 rows of features, more than any batch
        // usually is.
        let (n, features) = (n as f64, self.params.features as f64);
        let batch = self.params.batch.max(4096) as f64;
        8.0 * (n * (d + 1) as f64 + 5.0 * features * features + 2.0 * batch * features)
    }
}
