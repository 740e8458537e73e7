//! Stochastic minimax on the likelihood of a process with finitely many features.
//!
//! Shoham and Avron 2025, section 3.1. A step takes two minibatches:
//!
//! ```text
//! parameters, A   down the gradient of Psi from the first batch; then s^2 >= floor, A >= s^2 I
//! B               up the gradient of Psi from the second one, at the new parameters and A; then |B| <= 1
//! ```

use std::f64::consts::TAU;

use gpbench_sdk::finite::{Passes, Process};
use gpbench_sdk::ndarray::{Array1, Array2, ArrayView2};
use gpbench_sdk::optimise::Optimiser;
use gpbench_sdk::{Capabilities, Facts, Fit, Learner, Model, Result, Saved, Work, Workers, symmetric};

use crate::{MinimaxParams, Saddle, norm};

/// Stochastic minimax.
#[derive(Debug)]
pub struct Minimax {
    params: MinimaxParams,
}

/// State of a fit.
#[derive(Debug)]
pub struct State {
    process: Process,
    saddle: Saddle,
    optimisers: Optimisers,
    passes: Passes,
    /// Steps taken, and those after which eigenvalues of A had to be lifted.
    steps: u64,
    lifted: u64,
    /// Rows of the batches, kept for their memory.
    rows: [Vec<usize>; 2],
}

/// Optimisers of the parameters, of A and of B.
#[derive(Debug)]
struct Optimisers {
    parameters: Optimiser,
    a: Optimiser,
    b: Optimiser,
}

/// The entries of a column-major matrix.
fn entries(matrix: &mut Array2<f64>) -> &mut [f64] {
    matrix.as_slice_memory_order_mut().expect("matrices are made whole, without gaps")
}

impl State {
    /// The state before the first step: A is F of all rows, B is 0.
    fn begin(fit: &Fit<'_>, params: &MinimaxParams) -> Result<State> {
        let mut state = State::new(fit, params)?;
        state.saddle = Saddle::new(state.all_rows(fit)?);
        Ok(state)
    }

    /// The state before the first step, without A and B.
    fn new(fit: &Fit<'_>, params: &MinimaxParams) -> Result<State> {
        let process = Process::new(fit, params.options())?;
        let order = process.map().dimension();
        let optimiser = |size| Optimiser::new(params.optimiser, size);
        let optimisers = Optimisers {
            parameters: optimiser(process.n_parameters()),
            a: optimiser(order * order),
            b: optimiser(order * order),
        };
        let passes = Passes::new(fit.n(), process.outputs());
        let saddle = Saddle::new(Array2::default((0, 0)));
        let rows = [Vec::new(), Vec::new()];
        Ok(State { process, saddle, optimisers, passes, steps: 0, lifted: 0, rows })
    }

    /// F of all rows.
    fn all_rows(&self, fit: &Fit<'_>) -> Result<Array2<f64>> {
        let matrix = self.process.moments(fit.workers()).matrix(self.process.noise_variance());
        fit.charge(Work { rows: fit.n(), features: fit.n(), entries: 0 })?;
        Ok(matrix)
    }

    fn step(&mut self, fit: &Fit<'_>, params: &MinimaxParams) -> Result<f64> {
        let State { process, saddle, optimisers, passes, steps, lifted, rows } = self;
        let [first, second] = rows;
        fit.batch_into(params.sampling.stream(0), params.batch, first)?;
        fit.batch_into(params.sampling.stream(1), params.batch, second)?;
        *steps += 1;
        fit.charge(Work::features(first.len() + second.len()))?;
        let (n, workers, rate) = (fit.n(), fit.workers(), params.learning_rate);

        let batch = process.batch(first, workers);
        let mut objective = process.objective(&batch);
        let noise_variance = process.noise_variance();
        let mut penalty = saddle.penalty(n, &batch.features(), noise_variance, params.mu, workers)?;
        objective.add(penalty.value, &penalty.by_features, penalty.by_noise_variance);
        if !process.descend(&batch, &objective, &mut optimisers.parameters, rate, workers) {
            return Ok(f64::NAN);
        }
        optimisers.a.descend_shared(entries(&mut saddle.a), entries(&mut penalty.by_a), rate, workers);
        let lifted_values = saddle.project_a(process.noise_variance(), workers)?;
        *lifted += u64::from(lifted_values > 0);
        let pass = passes.see(batch.targets().len(), batch.evaluated().outputs());

        let batch = process.batch(second, workers);
        let mut down = saddle.against_b(n, &batch.features(), process.noise_variance(), params.mu)?;
        optimisers.b.descend_shared(entries(&mut saddle.b), entries(&mut down), rate, workers);
        saddle.project_b();

        if let Some(pass) = pass {
            fit.note("dead_features", pass.dead_features as f64)?;
            fit.note("lifted_values", lifted_values as f64)?;
            if params.monitor > 0 && pass.number % params.monitor == 0 {
                self.note_penalty(fit)?;
            }
        }
        Ok((objective.value / n as f64 + TAU.ln()) / 2.0)
    }

    /// Notes the distance between A and F, which the penalty keeps small. F is a minimum, with |B| < 1, only for
    /// mu >= kappa.
    fn note_penalty(&self, fit: &Fit<'_>) -> Result<()> {
        let whole = self.all_rows(fit)?;
        fit.note("gap", norm(&(&self.saddle.a - &whole)) / norm(&whole))?;
        fit.note("b_norm", norm(&self.saddle.b))?;
        if let Ok(factor) = symmetric::shifted_factor_shared(&whole, 0.0, fit.workers()) {
            fit.note("kappa", norm(&whole) * norm(&symmetric::inverse(&factor, fit.workers())))?;
        }
        fit.note("lifted_share", self.lifted as f64 / self.steps as f64)
    }
}

impl Learner for Minimax {
    type Params = MinimaxParams;
    const ID: &'static str = "minimax";
    const DOC: &'static str = "Stochastic minimax, for finitely many features (Shoham and Avron 2025)";
    const SOURCE: &'static str = "N. Shoham, H. Avron. Unbiased Stochastic Optimization for Gaussian Processes on Finite \
        Dimensional RKHS. arXiv 2508.20588, 2025.";
    const FACTS: Facts = Facts {
        step: "no entries; 4 b D^2 + D^3 operations for batches of b rows and D features, up to 3 D^3 more \
            to stay feasible",
        memory: "9 D^2 + 4096 D",
        guarantees: "gradients of its minimax problem are unbiased, for finitely many features",
        advice: "batches far smaller than D; not for many features, by D^3",
    };
    const CAPABILITIES: Capabilities =
        Capabilities::FINITE.and(Capabilities::NETWORK).and(Capabilities::MEAN).and(Capabilities::RANDOMIZED);
    type State = State;

    fn new(params: MinimaxParams) -> Result<Self> {
        Ok(Minimax { params })
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
        let State { process, saddle, optimisers, passes, steps, lifted, .. } = state;
        process.save(saved);
        passes.save(saved);
        saved.put_all(optimisers.parameters.save("parameters"));
        saved.put_all(optimisers.a.save("a"));
        saved.put_all(optimisers.b.save("b"));
        saved.put("a", saddle.a.view());
        saved.put("b", saddle.b.view());
        saved.put_integers("steps", [*steps, *lifted]);
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, saved: &Saved) -> Result<State> {
        let mut state = State::new(fit, &self.params)?;
        state.process.load(saved)?;
        state.passes.load(saved)?;
        state.optimisers.parameters.load("parameters", |name| saved.find(name))?;
        state.optimisers.a.load("a", |name| saved.find(name))?;
        state.optimisers.b.load("b", |name| saved.find(name))?;
        let order = state.process.map().dimension();
        let matrix =
            |name| -> Result<_> { Ok(symmetric::column_major(&saved.get_shaped(name, (order, order))?)) };
        state.saddle = Saddle { a: matrix("a")?, b: matrix("b")? };
        if let &[steps, lifted] = saved.get_integers("steps")?.as_slice() {
            (state.steps, state.lifted) = (steps, lifted);
        }
        Ok(state)
    }

    fn numbers(&self, state: &State) -> Vec<(&'static str, f64)> {
        vec![("lifted_steps", state.lifted as f64)]
    }

    fn estimate(&self, n: usize, d: usize) -> f64 {
        // Data; A, B, AdaDelta's averages of each, and their gradients; a block of 4096 rows of features.
        let (n, features) = (n as f64, self.params.features as f64);
        let batch = self.params.batch.max(4096) as f64;
        8.0 * (n * (d + 1) as f64 + 9.0 * features * features + 2.0 * batch * features)
    }
}
