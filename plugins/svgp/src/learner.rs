//! The learner: minibatches, steps of the optimiser, and the learning rate over the passes.

use gpbench_sdk::ndarray::{Array1, ArrayView2, Axis};
use gpbench_sdk::optimise::Optimiser;
use gpbench_sdk::{Capabilities, Error, Facts, Fit, Learner, Model, Result, Saved, Stream, Work, Workers};

use crate::{GradientMemory, SparseProcess, SvgpParams, Train};

/// The stream of inducing points where the host has chosen none: as many as rows in a minibatch.
const POINTS: Stream = Stream::new(1);

/// A sparse variational Gaussian process, fitted by stochastic optimisation.
#[derive(Debug)]
pub struct Svgp {
    params: SvgpParams,
}

/// State of a fit.
#[derive(Debug)]
pub struct State {
    process: SparseProcess,
    optimiser: Optimiser,
    /// Rows of all minibatches so far.
    drawn: u64,
    /// The largest jitter that a step has taken.
    jitter: f64,
    /// Dead features of the last minibatch.
    dead_features: usize,
    workspace: GradientMemory,
    /// Rows of the minibatch, kept for its memory.
    rows: Vec<usize>,
}

impl State {
    fn new(fit: &Fit<'_>, params: &SvgpParams, points: ArrayView2<'_, f64>) -> Result<State> {
        let process = SparseProcess::new(fit, params, points)?;
        let optimiser = Optimiser::new(params.optimiser, process.parameters.len());
        let workspace = GradientMemory::new(&process, params.batch.min(fit.n()));
        let (drawn, jitter, dead_features) = (0, params.jitter, 0);
        Ok(State { process, optimiser, drawn, jitter, dead_features, workspace, rows: Vec::new() })
    }

    fn step(&mut self, fit: &Fit<'_>, params: &SvgpParams) -> Result<f64> {
        match params.train {
            Train::All => self.ascend(fit, params),
            Train::Distribution => self.optimise(fit),
        }
    }

    /// Takes a pass, and sets the distribution to its optimum.
    fn optimise(&mut self, fit: &Fit<'_>) -> Result<f64> {
        fit.batch_into(Stream::MAIN, fit.n(), &mut self.rows)?;
        self.drawn += self.rows.len() as u64;
        let (x, y) = (fit.x(), fit.y());
        let evaluation = self.process.optimise_distribution(&x, &y, fit.workers())?;
        self.charge(fit, fit.n())?;
        self.jitter = self.jitter.max(evaluation.jitter);
        Ok(-evaluation.bound / fit.n() as f64)
    }

    /// Takes a minibatch, and a step of the optimiser along the bound's gradient.
    fn ascend(&mut self, fit: &Fit<'_>, params: &SvgpParams) -> Result<f64> {
        fit.batch_into(params.sampling.stream(0), params.batch, &mut self.rows)?;
        let (x, y) = (fit.x().select(Axis(0), &self.rows), fit.y().select(Axis(0), &self.rows));
        let schedule = params.milestones.schedule(params.factor, fit.passes());
        let rate = params.learning_rate * schedule.at(self.drawn as f64 / fit.n() as f64);
        self.drawn += self.rows.len() as u64;

        let evaluation = self.process.evaluate(&x, &y, fit.n(), &mut self.workspace, fit.workers())?;
        self.charge(fit, self.rows.len())?;
        self.jitter = self.jitter.max(evaluation.jitter);
        self.dead_features = evaluation.dead_features;
        if evaluation.bound.is_finite() {
            let (parameters, gradient) = (&mut self.process.parameters, &self.workspace.gradient);
            self.optimiser.descend_shared(parameters, gradient, rate, fit.workers());
            self.process.update();
        }
        Ok(-evaluation.bound / fit.n() as f64)
    }

    /// Charges the entries of K(Z, Z), and of K(Z, X) for this number of rows.
    fn charge(&self, fit: &Fit<'_>, rows: usize) -> Result<()> {
        let m = self.process.m();
        let features = if self.process.has_network() { m + rows } else { 0 };
        fit.charge(Work { rows: 0, entries: m * (m + rows), features })
    }
}

impl Learner for Svgp {
    type Params = SvgpParams;
    const ID: &'static str = "svgp";
    const DOC: &'static str = "Sparse variational Gaussian process: inducing points, minibatches";
    const SOURCE: &'static str =
        "J. Hensman, N. Fusi, N. D. Lawrence. Gaussian Processes for Big Data. UAI 2013.";
    const FACTS: Facts = Facts {
        step: "m (m + b) entries, 6 m^2 b + 5 m^3 / 3 operations for m inducing points and a batch of b rows",
        memory: "8 m^2 + 5 m b",
        guarantees: "a lower bound of the likelihood; its gradient is unbiased at any batch size",
        advice: "many rows, smooth functions, networks; noise is overestimated where m points are too few",
    };
    const CAPABILITIES: Capabilities = Capabilities::KERNEL
        .and(Capabilities::NETWORK)
        .and(Capabilities::INDUCING)
        .and(Capabilities::MEAN)
        .and(Capabilities::RANDOMIZED);
    type State = State;

    fn new(params: SvgpParams) -> Result<Self> {
        Ok(Svgp { params })
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<State> {
        let chosen = match fit.inputs().basis {
            Some(points) => points.to_owned(),
            None => fit.x().select(Axis(0), &fit.batch(POINTS, self.params.batch)?),
        };
        State::new(fit, &self.params, chosen.view())
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
        state.process.model(Workers::new(1))
    }

    fn save(&self, state: &State, saved: &mut Saved) -> Result<()> {
        saved.put("points", state.process.points());
        saved.put_list("parameters", &state.process.parameters);
        saved.put_all(state.optimiser.save("optimiser"));
        saved.put_integers("counts", [state.drawn, state.dead_features as u64]);
        saved.put_number("jitter", state.jitter);
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, saved: &Saved) -> Result<State> {
        let mut state = State::new(fit, &self.params, saved.get("points")?)?;
        let shape = (state.process.parameters.len(), 1);
        state.process.parameters = saved.get_shaped("parameters", shape)?.into_iter().collect();
        state.process.update();
        state.optimiser.load("optimiser", |name| saved.find(name))?;
        let [drawn, dead_features] = saved.get_integers("counts")?[..] else {
            return Err(Error::InvalidArgument("the saved `counts` are not two".into()));
        };
        (state.drawn, state.dead_features) = (drawn, dead_features as usize);
        state.jitter = saved.get_number("jitter")?;
        Ok(state)
    }

    fn numbers(&self, state: &State) -> Vec<(&'static str, f64)> {
        let mut numbers = vec![("inducing_points", state.process.m() as f64), ("jitter", state.jitter)];
        if state.process.has_network() {
            numbers.push(("dead_features", state.dead_features as f64));
        }
        numbers
    }

    fn estimate(&self, n: usize, d: usize) -> f64 {
        // As many inducing points as rows in a minibatch; their number is not known here.
        let m = self.params.batch.min(n) as f64;
        // R with its gradients and two averages, K(Z, Z) and its factor; K(Z, X_S) with its own.
        8.0 * (8.0 * m * m + 5.0 * m * m + 8.0 * m * d as f64)
    }
}
