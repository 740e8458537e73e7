//! What an outer step finds before it moves: the gradient, and what that took.

use gpbench_gp::exact::{ExactGp, Gradient};
use gpbench_gp::train;
use gpbench_gp::{lanczos, metrics};
use gpbench_record::{Case, Clock, Entries, EstimatorMethod, Failure, Metrics, StopReason, Task, names};
use ndarray::{Array2, Axis, ShapeBuilder, s};

use super::Trainer;
use crate::case::invalid;
use crate::checkpoint::State;
use crate::estimate;
use crate::judge::{Judge, claims};
use crate::plugin::{Kept, Terms};
use crate::process;
use crate::system::System;

/// Up to this many rows the exact likelihood stands beside each step, and a cross-section of its quadratic beside
/// the first ones.
const EXACT_ROWS: usize = 3000;

/// Up to this many rows the distance to where a solve started is measured, at the price of a product.
const DISTANCE_ROWS: usize = 20_000;

/// Steps whose quadratic is cut across: the last of them is shown (Lin et al. 2024, Figure 6).
const SECTION_STEPS: u64 = 20;

/// Steps of Lanczos' iteration for the two largest eigenvalues.
const LEADING_STEPS: usize = 30;

/// What an outer step found before it moved.
pub(super) struct Estimated {
    pub(super) gradient: Gradient,
    /// Derivative of the log marginal likelihood by a constant prior mean.
    pub(super) by_mean: f64,
    pub(super) log_marginal_likelihood: Option<f64>,
    pub(super) solution: Option<Array2<f64>>,
    /// What the solver keeps for the next step.
    pub(super) kept: Kept,
    pub(super) reason: StopReason,
    pub(super) iterations: u64,
    pub(super) prepare: Clock,
    pub(super) solve: Clock,
    pub(super) entries: Entries,
    /// Wall-clock seconds beside the solver.
    pub(super) outer: f64,
    pub(super) metrics: Metrics,
}

/// Where a solve starts, and what that took.
struct Start {
    x: Array2<f64>,
    solve: Clock,
    entries: Entries,
}

impl Trainer<'_> {
    /// A step whose likelihood is one of random features: nothing is solved. The frequencies of `rff` are part
    /// of its model, and stay; those of `ss_rff` have to be fresh for its estimates to have no bias.
    pub(super) fn by_features(&self, posed: &Case, count: u64) -> Result<Estimated, Failure> {
        let began = process::now();
        let draw = if posed.estimator.method == EstimatorMethod::Rff { 0 } else { count };
        let (likelihood, features) = estimate::likelihood_of_features(posed, &self.data, &self.pool, draw)?;
        let mut metrics = Metrics::default();
        metrics.insert(names::FEATURES, features as f64);
        Ok(Estimated {
            gradient: likelihood.gradient,
            by_mean: likelihood.by_mean,
            log_marginal_likelihood: None,
            solution: None,
            kept: Kept::new(),
            reason: StopReason::Iterations,
            iterations: 0,
            prepare: Clock::default(),
            solve: Clock::default(),
            entries: Entries::default(),
            outer: process::now().wall - began.wall,
            metrics,
        })
    }

    /// A step by a Cholesky factor of the harness's own, of which solution, likelihood and gradient are made alike:
    /// the solver is asked for the prediction alone.
    pub(super) fn by_factor(&self, posed: &Case, count: u64) -> Result<Estimated, Failure> {
        let system = self.pose(posed, None)?;
        let System { data, operator, .. } = &system;
        let (kernel, noise_scale, x) = (operator.kernel(), operator.noise_scale(), data.x_train.view());
        let began = process::now();
        let gp = ExactGp::fit(kernel, noise_scale, x, data.y_train.view(), self.job.threads);
        let gp = gp.map_err(|error| invalid(format!("step {count}: {error}")))?;
        let fitted = process::now();
        let gradient = gp.gradient(x);
        let outer = process::now().wall - fitted.wall;

        let v = gp.v.view().insert_axis(Axis(1));
        let judge = Judge::new(&system, None, Task::Posterior);
        let mut metrics = judge.glance(v);
        metrics.extend(&judge.residuals(v));
        let used = (gp.n() * (gp.n() + 1) / 2) as f64;
        Ok(Estimated {
            gradient,
            by_mean: gp.v.sum(),
            log_marginal_likelihood: Some(gp.log_marginal_likelihood),
            solution: None,
            kept: Kept::new(),
            reason: StopReason::Converged,
            iterations: 0,
            prepare: Clock { wall: fitted.wall - began.wall, cpu: fitted.cpu - began.cpu },
            solve: Clock::default(),
            entries: Entries { used, evaluated: used, ..Entries::default() },
            outer,
            metrics,
        })
    }

    /// A step whose gradient is made of solutions.
    pub(super) fn by_solutions(&self, posed: &Case, count: u64, state: &State) -> Result<Estimated, Failure> {
        let estimator = &posed.estimator;
        let began = process::now();
        let redraw = (!estimator.warm_start && count > 0).then_some(count);
        let mut system = self.pose(posed, redraw)?;
        let mut outer = process::now().wall - began.wall;
        let Start { mut x, solve, entries } = self.start(&system, state);
        let start = (system.n() <= DISTANCE_ROWS).then(|| x.clone());
        let terms = self.terms(&system, &format!("solver/{count}"), self.seconds_left(state));
        let max_epochs = terms.max_epochs.map(|most| most - entries.used / (system.n() as f64).powi(2));
        let terms = Terms { max_epochs, ..terms };
        let mut kept = state.kept.clone();
        let ending = self.solve(&posed.solver, &mut system, &mut x, terms, &mut kept)?;
        let mut found = Estimated {
            gradient: Gradient { noise_scale: 0.0, signal_scale: 0.0, length_scale: Vec::new() },
            by_mean: x.column(0).sum(),
            log_marginal_likelihood: None,
            solution: None,
            kept,
            reason: ending.reason,
            iterations: ending.iterations,
            prepare: ending.prepare,
            solve: solve.plus(ending.solve),
            entries: entries.plus(ending.entries),
            outer: 0.0,
            metrics: claims(&ending.claimed),
        };
        let again = match estimator.second_solve {
            false => None,
            true => Some(self.solve_again(posed, count, state, &mut found)?),
        };

        let began = process::now();
        found.gradient = estimate::gradient(&system, estimator.method, x.view(), again.as_ref());
        outer += process::now().wall - began.wall;
        found.outer = outer;

        let judge = Judge::new(&system, None, Task::Posterior);
        found.metrics.extend(&judge.glance(x.view()));
        found.metrics.extend(&judge.residuals(x.view()));
        if let Some(start) = start {
            found.metrics.insert(names::INITIAL_DISTANCE, distance(&system, &start, &x));
            if count < SECTION_STEPS && system.n() <= EXACT_ROWS && system.columns() > 1 {
                found.metrics.extend(&cross_section(&system, &start, &x));
            }
        }
        found.solution = Some(x);
        Ok(found)
    }

    /// Where a step's solve starts, and what it took to get there.
    fn start(&self, system: &System, state: &State) -> Start {
        let estimator = &self.job.case.estimator;
        let mut start = Start {
            x: Array2::zeros((system.n(), system.columns()).f()),
            solve: Clock::default(),
            entries: Entries::default(),
        };
        let Some(last) = state.solution.as_ref().filter(|_| estimator.warm_start) else { return start };
        let Some(before) = state.before.as_ref().filter(|_| estimator.extrapolate) else {
            start.x.assign(last);
            return start;
        };
        let began = process::now();
        let rhs = system.targets.rhs.view();
        start.x = train::extrapolate(&system.operator, rhs, last.view(), before.view());
        let ended = process::now();
        start.solve = Clock { wall: ended.wall - began.wall, cpu: ended.cpu - began.cpu };
        // One product with H.
        let used = (system.n() as f64).powi(2);
        start.entries = Entries { used, evaluated: used, ..Entries::default() };
        start
    }

    /// Solves for y a second time, with other random numbers and nothing of what the solver keeps.
    fn solve_again(
        &self,
        posed: &Case,
        count: u64,
        state: &State,
        found: &mut Estimated,
    ) -> Result<Array2<f64>, Failure> {
        let mut alone = posed.clone();
        alone.estimator.probes = 0;
        let mut system = self.pose(&alone, None)?;
        let mut x = Array2::zeros((system.n(), 1).f());
        if let Some(last) = state.solution.as_ref().filter(|_| posed.estimator.warm_start) {
            x.assign(&last.slice(s![.., ..1]));
        }
        let terms = self.terms(&system, &format!("solver/{count}/again"), self.seconds_left(state));
        let ending = self.solve(&posed.solver, &mut system, &mut x, terms, &mut Kept::new())?;
        found.iterations += ending.iterations;
        found.prepare = found.prepare.plus(ending.prepare);
        found.solve = found.solve.plus(ending.solve);
        found.entries = found.entries.plus(ending.entries);
        Ok(x)
    }

    /// The exact log marginal likelihood at a step's hyperparameters, where there are few rows. No clock runs.
    pub(super) fn likelihood_of_few(&self, posed: &Case) -> Option<f64> {
        (self.data.y_train.len() <= EXACT_ROWS).then(|| self.exact_likelihood(&posed.kernel))?
    }
}

/// Where the solve for the first probe started in the plane of the steepest directions, and the curvatures there.
fn cross_section(system: &System, start: &Array2<f64>, x: &Array2<f64>) -> Metrics {
    let mut metrics = Metrics::default();
    let Some((curvatures, directions)) = lanczos::leading(&system.operator, LEADING_STEPS, 2) else {
        return metrics;
    };
    let starts = directions.t().dot(&(&start.column(1) - &x.column(1)));
    for i in 0..2 {
        metrics.insert(names::CURVATURES[i], curvatures[i]);
        metrics.insert(names::STARTS[i], starts[i]);
    }
    metrics
}

/// Root mean square over the probes, or over y where there are none, of |x_0 - x|_H.
fn distance(system: &System, start: &Array2<f64>, x: &Array2<f64>) -> f64 {
    let of_probes = usize::from(x.ncols() > 1);
    let mut moved = Array2::zeros((x.nrows(), x.ncols() - of_probes).f());
    moved.assign(&(x - start).slice(s![.., of_probes..]));
    let norms = metrics::energy_norms(&system.operator, moved.view());
    (norms.iter().map(|norm| norm * norm).sum::<f64>() / norms.len() as f64).sqrt()
}
