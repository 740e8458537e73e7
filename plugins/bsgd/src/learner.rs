//! Descent on the likelihoods of minibatches.
//!
//! A linear kernel, on the inputs or on the outputs of a network, has finitely many features, so that predictions from all
//! rows cost little. A stationary kernel is taken as it is.

use gpbench_sdk::finite::{self, Objective, Passes};
use gpbench_sdk::ndarray::{Array1, ArrayView2};
use gpbench_sdk::optimise::Optimiser;
use gpbench_sdk::{
    Capabilities, Covariance, Facts, Fit, Learner, Model, Result, Saved, Work, Workers, exact,
};

use crate::{BatchLikelihood, BsgdParams, Exact};

/// Biased stochastic gradient descent.
#[derive(Debug)]
pub struct Bsgd {
    params: BsgdParams,
}

/// State of a fit.
#[derive(Debug)]
pub struct State {
    process: Process,
    optimiser: Optimiser,
    passes: Passes,
    /// Rows of the batch, kept for its memory.
    rows: Vec<usize>,
}

/// The process that is learned, by the kind of its kernel.
#[derive(Debug)]
enum Process {
    Finite(finite::Process),
    Exact(Exact),
}

impl Process {
    /// Whether rows are taken through features or a network.
    fn has_features(&self) -> bool {
        match self {
            Process::Finite(_) => true,
            Process::Exact(process) => process.outputs() > 0,
        }
    }
}

impl State {
    /// The state before the first step.
    fn new(fit: &Fit<'_>, params: &BsgdParams) -> Result<State> {
        let process = match fit.family() {
            Covariance::Linear => Process::Finite(finite::Process::new(fit, params.options())?),
            _ => Process::Exact(Exact::new(fit, params.noise_floor)?),
        };
        let (parameters, outputs) = match &process {
            Process::Finite(process) => (process.n_parameters(), process.outputs()),
            Process::Exact(process) => (process.n_parameters(), process.outputs()),
        };
        let optimiser = Optimiser::new(params.optimiser, parameters);
        Ok(State { process, optimiser, passes: Passes::new(fit.n(), outputs), rows: Vec::new() })
    }

    fn step(&mut self, fit: &Fit<'_>, params: &BsgdParams) -> Result<f64> {
        let State { process, optimiser, passes, rows } = self;
        fit.batch_into(params.sampling.stream(0), params.batch, rows)?;
        let (b, rate, workers) = (rows.len(), params.learning_rate, fit.workers());
        let features = if process.has_features() { b } else { 0 };
        fit.charge(Work { rows: 0, entries: b * b, features })?;
        let (nlml, is_sound, pass) = match process {
            Process::Finite(process) => {
                let batch = process.batch(rows, workers);
                let (likelihood, by_features) = BatchLikelihood::of_features(
                    &batch.features(),
                    batch.targets(),
                    process.noise_variance(),
                )?;
                let objective = Objective {
                    value: likelihood.nlml,
                    by_features,
                    by_weights: Array1::default(0),
                    by_noise_variance: likelihood.by_noise_variance,
                    by_mean: likelihood.by_mean,
                };
                let is_sound = process.descend(&batch, &objective, optimiser, rate, workers);
                (likelihood.nlml, is_sound, passes.see(b, batch.evaluated().outputs()))
            }
            Process::Exact(process) => {
                let (nlml, gradient, pass) = process.gradient(rows, workers)?;
                let is_sound = gradient.iter().all(|entry| entry.is_finite());
                if is_sound {
                    process.descend(&gradient, optimiser, rate);
                }
                (nlml, is_sound, passes.see(b, pass.as_ref().map(|pass| pass.features())))
            }
        };
        if let Some(pass) = pass {
            fit.note("dead_features", pass.dead_features as f64)?;
        }
        Ok(if is_sound { nlml } else { f64::NAN })
    }
}

impl Learner for Bsgd {
    type Params = BsgdParams;
    const ID: &'static str = "bsgd";
    const DOC: &'static str =
        "Descent on the likelihoods of uniform minibatches, which is biased; predicts from all rows";
    const SOURCE: &'static str = "H. Chen, L. Zheng, R. Al Kontar, G. Raskutti. Stochastic Gradient Descent in \
        Correlated Settings: A Study on Gaussian Processes. NeurIPS 2020.";
    const FACTS: Facts = Facts {
        step: "b^2 entries, b^3 + b^2 D operations for a batch of b rows and D inputs or features",
        memory: "b^2",
        guarantees: "predictions are exact at the scales found; the gradient is biased",
        advice: "the cheapest with networks, where batches are large against D; may diverge with small \
            batches",
    };
    const CAPABILITIES: Capabilities =
        Capabilities::KERNEL.and(Capabilities::NETWORK).and(Capabilities::MEAN).and(Capabilities::RANDOMIZED);
    type State = State;

    fn new(params: BsgdParams) -> Result<Self> {
        Ok(Bsgd { params })
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<State> {
        State::new(fit, &self.params)
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
        match &state.process {
            Process::Finite(process) => process.predict(&x, workers),
            Process::Exact(process) => process.predict(&x, workers),
        }
    }

    fn model(&self, state: &State) -> Result<Model> {
        Ok(match &state.process {
            Process::Finite(process) => process.model(),
            Process::Exact(process) => process.model(),
        })
    }

    fn save(&self, state: &State, saved: &mut Saved) -> Result<()> {
        match &state.process {
            Process::Finite(process) => process.save(saved),
            Process::Exact(process) => process.save(saved),
        }
        state.passes.save(saved);
        saved.put_all(state.optimiser.save("optimiser"));
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, saved: &Saved) -> Result<State> {
        let mut state = State::new(fit, &self.params)?;
        match &mut state.process {
            Process::Finite(process) => process.load(saved)?,
            Process::Exact(process) => process.load(saved)?,
        }
        state.passes.load(saved)?;
        state.optimiser.load("optimiser", |name| saved.find(name))?;
        Ok(state)
    }

    fn estimate(&self, n: usize, d: usize) -> f64 {
        // Data, its outputs of a network, and a matrix for the prediction under a stationary kernel.
        let (n, d, b) = (n as f64, d as f64, self.params.batch.min(n) as f64);
        let matrix = if n <= exact::MOST_ROWS as f64 { n * n } else { 0.0 };
        8.0 * (n * (d + 129.0) + matrix + 4.0 * b * b)
    }
}
