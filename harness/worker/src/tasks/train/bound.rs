//! Steps by the gradient of a lower bound on the likelihood (CGLB, Artemev et al. 2021), and the bound at the end.
//!
//! A step solves for y alone, to the tolerance at which the bound loses at most the gap that the spec allows. What
//! the bound needs beside it is part of the step: one product for the residual and M n + M^2 entries, which count as
//! the solver's entries do, and M n more where a step chooses its points greedily. As with other estimators, the pass
//! of the gradient over the kernel is timed and not counted.
//!
//! Points stay the same from one step to the next, so that the bound is one function of the scales, until they are
//! chosen anew.

use gpbench_gp::cglb::{self, BoundFactor, ConjugateBound};
use gpbench_gp::inducing::greedy;
use gpbench_gp::pathwise::Prediction;
use gpbench_host::{SolveCost, VolatileObjects};
use gpbench_record::{Entries, Inducing, InducingBound, Kernel, Metrics, PointSelection, Start, names};
use ndarray::{Array2, ArrayView1, ArrayView2};

use crate::evaluate::predictions::errors;
use crate::failure::{CaseError, diverged};
use crate::process;
use crate::system::{NO_PROBES, System, SystemError, select};

use super::gradient::StepGradient;
use super::solve::{Demand, StepSolution};
use super::state::State;
use super::trainer::Trainer;

/// Arrays of M x M numbers in a factor and its gradient.
const SQUARES: usize = 6;

impl Trainer<'_> {
    /// The gradient of the bound, from a solution for y.
    pub(super) fn by_bound(
        &self,
        kernel: &Kernel,
        (bound, start): (InducingBound, Start),
        count: u64,
        state: &State,
        volatile: &mut VolatileObjects,
    ) -> Result<StepGradient, CaseError> {
        let began = process::now();
        let mut system = self.setup.system(kernel, NO_PROBES, None, None)?;
        let (points, chosen) = points(&system, bound, count, state)?;
        let mut outer = process::now().wall - began.wall;

        let (n, m) = (system.n(), points.nrows());
        let is_greedy = chosen && bound.select == PointSelection::Greedy;
        let used = (n * n + n * m * (1 + usize::from(is_greedy)) + m * m) as f64;
        let y = system.targets.rhs.column(0);
        let tolerance = cglb::tolerance(bound.gap, system.operator.noise_scale(), y);
        let bytes = size_of::<f64>() * (n * m + SQUARES * m * m);
        let demand = Demand { start, tolerance: Some(tolerance), entries: used, bytes };
        let solved = self.solve_step(&mut system, demand, count, state, volatile)?;
        let entries = Entries { used, evaluated: used, ..Entries::default() };
        let cost = solved.cost.plus(SolveCost { entries, ..SolveCost::default() });

        let began = process::now();
        let (factor, at) = bound_at(&system, points.view(), solved.x.column(0))?;
        let precision = solved.outcome.precision;
        let gradient = factor.gradient(&*system.operator, system.data.x_train.view(), &at, precision);
        outer += process::now().wall - began.wall;

        let mut metrics = solved.metrics(&system);
        metrics.extend(&of_prediction(&system, &factor, &at));
        metrics.extend(&of_bound(&system, &factor, &at));
        metrics.insert(names::STEP_TOLERANCE, tolerance);
        let found = StepGradient::new(gradient, at.by_mean(), solved.outcome.stop_reason, metrics);
        let StepSolution { x, solver, .. } = solved;
        Ok(StepGradient { solution: Some(x), inducing: Some(points), solver, cost, outer, ..found })
    }

    /// The bound that the solution `v` for y of the final system gives, where training was by one; nothing where a
    /// matrix is singular. No clock runs.
    pub(super) fn final_bound(&self, system: &System, v: ArrayView1<f64>, state: &State) -> Metrics {
        let Some(bound) = self.task.gradient.bound() else { return Metrics::default() };
        let taken = state.steps.len() as u64;
        let found =
            points(system, bound, taken, state).and_then(|(points, _)| bound_at(system, points.view(), v));
        found.map(|(factor, at)| of_bound(system, &factor, &at)).unwrap_or_default()
    }
}

/// The inducing points of step `count`, M x d, and whether the step chooses them.
fn points(
    system: &System,
    bound: InducingBound,
    count: u64,
    state: &State,
) -> Result<(Array2<f64>, bool), CaseError> {
    // A multiple of 0 is 0 alone.
    let kept = state.inducing.as_ref().filter(|_| !count.is_multiple_of(bound.reselect));
    match kept {
        Some(points) => Ok((points.clone(), false)),
        None => Ok((choose(system, bound)?, true)),
    }
}

/// Chooses inducing points, row-major, as a checkpoint returns them.
fn choose(system: &System, bound: InducingBound) -> Result<Array2<f64>, CaseError> {
    let x = system.data.x_train.view();
    let points = bound.points.min(x.nrows());
    let inducing = match bound.select {
        PointSelection::Greedy => {
            let chosen = greedy(system.operator.kernel(), x, points, &system.pool);
            return Ok(chosen.as_standard_layout().into_owned());
        }
        PointSelection::Subset => Inducing::Subset { points },
        PointSelection::Kmeans => Inducing::Kmeans { points },
    };
    let chosen = system.pool.install(|| select(inducing, x, &system.streams)).map_err(SystemError::from)?;
    Ok(chosen.as_standard_layout().into_owned())
}

/// The factor for these points, and the bound at a solution `v` for y.
fn bound_at(
    system: &System,
    points: ArrayView2<f64>,
    v: ArrayView1<f64>,
) -> Result<(BoundFactor, ConjugateBound), CaseError> {
    let System { data, operator, targets, pool, .. } = system;
    let (kernel, noise_scale, x) = (operator.kernel(), operator.noise_scale(), data.x_train.view());
    let singular = |error| diverged(format!("the kernel matrix of the inducing points: {error}"));
    let factor = BoundFactor::new(kernel, noise_scale, x, points, cglb::JITTER, pool).map_err(singular)?;
    let at = factor.at(&**operator, targets.rhs.column(0), v);
    Ok((factor, at))
}

/// Errors of the bound's own predictions on the test rows.
fn of_prediction(system: &System, factor: &BoundFactor, at: &ConjugateBound) -> Metrics {
    let x_test = system.data.x_test.view();
    let (mean, variance) = factor.predict(&*system.operator, at, x_test);
    let samples = Array2::zeros((x_test.nrows(), 0));
    errors(system, None, &Prediction { mean, samples, sample_variance: Some(variance) })
}

/// The bound, negative and per row, what it loses by the residual, and the variance that its points leave
/// unexplained.
fn of_bound(system: &System, factor: &BoundFactor, at: &ConjugateBound) -> Metrics {
    let n = system.n() as f64;
    let mut found = Metrics::default();
    for (name, value) in [
        (names::BOUND, -at.value / n),
        (names::BOUND_GAP, at.gap),
        (names::UNEXPLAINED_VARIANCE, factor.unexplained / n),
    ] {
        found.insert(name, value);
    }
    found
}
