//! An outer step of a search.

use gpbench_data::synthetic::largest;
use gpbench_host::{SolveLimits, SolveOutcome};
use gpbench_record::{Entries, Metrics, Step, WarmStart, names};
use ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder, s};

use crate::evaluate::is_finite;
use crate::evaluate::weights::{claims, residuals_of_solve};
use crate::failure::{CaseError, diverged};
use crate::process;
use crate::runner::Runner;
use crate::system::{Formulation, System};

use super::acquisition::Acquisition;
use super::illustration::Illustrator;
use super::posed::SampleWeights;
use super::search::Search;
use super::state::State;

/// Largest number of rows for which true residuals are measured in every step, at the cost of one product. With more
/// rows, only verification measures them, for the last step.
const RESIDUAL_ROWS: usize = 20_000;

impl Search<'_> {
    /// Takes a step.
    pub(super) fn step(&self, runner: &Runner<'_>, state: &mut State) -> Result<Step, CaseError> {
        let step = state.taken();
        let began = process::now();
        let mut system = self.pose(&state.known, step)?;
        let mut x = self.initial_iterate(&system, state);
        let pose = process::now().wall - began.wall;

        let limits = runner.limits(&system, &format!("solver/{step}"));
        let limits = SolveLimits { seconds: self.seconds_left(state), ..limits };
        let params = &self.setup.job.case.solver.params;
        let outcome = runner.solve(params, &mut system, &mut x, limits, None)?;
        if !is_finite(x.view()) {
            return Err(diverged("the solution is not finite"));
        }
        let mut metrics = solve_metrics(&system, &outcome, x.view());
        if has_residuals(&system) && metrics.get(names::RESIDUAL_Y).is_none() {
            return Err(diverged("the residual is not finite"));
        }
        metrics.insert(names::SECONDS_POSE, pose);

        let began = process::now();
        let weights = SampleWeights::new(&system, x.view(), self.batch())?;
        let samples = weights.samples(&system);
        let packing = process::now().wall - began.wall;
        let mut illustrator = Illustrator::new(self, state);
        let chosen = self.choose(&system, &samples, step, &mut illustrator);
        metrics.extend(&chosen.metrics);
        let evaluating = chosen.metrics.get(names::SECONDS_CANDIDATES).unwrap_or_default();
        metrics.insert(names::SECONDS_CANDIDATES, packing + evaluating);
        let illustration = illustrator.draw(&samples, &state.known, &chosen);
        drop(samples);

        let values = match self.replayed(step) {
            None => self.acquire_points(state, chosen.x.view())?,
            Some(points) => {
                let values = self.judge(&state.known, chosen.x.view())?;
                self.acquire_points(state, points.view())?;
                values
            }
        };
        metrics.extend(&point_metrics(state, &chosen, &values));
        let cached_bytes = system.view().matrix.cached_bytes();
        let ended = Ended { outcome, x, chosen: chosen.x, rows: system.n(), cached_bytes };
        if illustration.is_some() {
            state.saved.illustration = illustration;
        }
        Ok(ended.advance(state, metrics))
    }

    /// The initial iterate of a step: zero, or the solutions of the step before, with zeros for the new rows.
    fn initial_iterate(&self, system: &System, state: &State) -> Array2<f64> {
        let mut x = Array2::zeros((system.m(), system.columns()).f());
        let known = match self.task.warm_start {
            WarmStart::None => return x,
            WarmStart::Mean => 1,
            WarmStart::All => system.columns(),
        };
        if let Some(last) = &state.solution {
            x.slice_mut(s![..last.nrows(), ..known]).assign(&last.slice(s![.., ..known]));
        }
        x
    }

    fn acquire_points(&self, state: &mut State, x: ArrayView2<f64>) -> Result<Array1<f64>, CaseError> {
        state.points.append(Axis(0), x).expect("points have as many inputs");
        self.acquire(&mut state.known, x)
    }
}

/// Results of a step.
struct Ended {
    outcome: SolveOutcome,
    x: Array2<f64>,
    chosen: Array2<f64>,
    /// Rows of its systems.
    rows: usize,
    cached_bytes: usize,
}

impl Ended {
    /// Adds the step to the state.
    fn advance(self, state: &mut State, metrics: Metrics) -> Step {
        let Ended { outcome, x, chosen, rows, cached_bytes } = self;
        let SolveOutcome { stop_reason: reason, claimed, values, cost, .. } = outcome;
        let step = Step { step: state.taken(), hyperparameters: Default::default(), reason, metrics };
        let saved = &mut state.saved;
        saved.epochs = saved.epochs.plus(epochs(cost.entries, rows));
        saved.cost = saved.cost.plus(cost);
        (saved.claimed, saved.values, saved.cached_bytes) = (claimed, values, cached_bytes);
        saved.steps.push(step.clone());
        (state.solution, state.chosen) = (Some(x), chosen);
        step
    }
}

/// Kernel entries over n^2.
fn epochs(entries: Entries, n: usize) -> Entries {
    let Entries { used, evaluated, found, setup, self_reported } = entries;
    let [used, evaluated, found, setup, self_reported] =
        [used, evaluated, found, setup, self_reported].map(|entries| entries / (n as f64).powi(2));
    Entries { used, evaluated, found, setup, self_reported }
}

/// Whether true residuals are measured in every step.
fn has_residuals(system: &System) -> bool {
    matches!(system.formulation, Formulation::Full) && system.n() <= RESIDUAL_ROWS
}

/// Cost and accuracy of a solve. No clock runs.
fn solve_metrics(system: &System, outcome: &SolveOutcome, x: ArrayView2<f64>) -> Metrics {
    let cost = &outcome.cost;
    let mut metrics = claims(&outcome.claimed);
    for (name, value) in [
        (names::ROWS_OF_STEP, system.n() as f64),
        (names::EPOCHS, cost.epochs(system.n())),
        (names::ENTRIES, cost.entries.used),
        (names::ITERATIONS, cost.iterations as f64),
        (names::SECONDS_PREPARE, cost.prepare.wall),
        (names::SECONDS_SOLVE, cost.solve.wall),
    ] {
        metrics.insert(name, value);
    }
    if has_residuals(system) {
        metrics.extend(&residuals_of_solve(system, x, outcome));
    }
    metrics
}

/// Metrics of the points of a step; `values` are the objective's values at the points that the samples chose.
fn point_metrics(state: &State, chosen: &Acquisition, values: &Array1<f64>) -> Metrics {
    let mut metrics = Metrics::default();
    for (name, value) in [
        (names::BEST, largest(state.known.values.view())),
        (names::BEST_OBSERVED, largest(state.known.observed.view())),
        (names::BATCH_BEST, largest(values.view())),
        (names::BATCH_MEAN, values.sum() / values.len() as f64),
        (names::OPTIMISM, (&chosen.values - values).sum() / values.len() as f64),
    ] {
        metrics.insert(name, value);
    }
    metrics
}
