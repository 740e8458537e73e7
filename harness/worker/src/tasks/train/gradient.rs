//! The gradient of an outer step, by each estimator, and its cost.

use gpbench_gp::Gradient;
use gpbench_gp::exact::ExactGp;
use gpbench_gp::lanczos;
use gpbench_gp::likelihood::Likelihood;
use gpbench_host::{SolveCost, SolverState, VolatileObjects, difference};
use gpbench_record::{
    Entries, FeatureEstimator, GradientEstimator, Kernel, Metrics, Probes, Start, StopReason, names,
};
use ndarray::{Array2, Axis, ShapeBuilder, s};

use crate::evaluate::predictions::predictions;
use crate::evaluate::weights::residuals;
use crate::failure::CaseError;
use crate::runner::Carried;
use crate::system::{NO_PROBES, System};
use crate::{estimate, process};

use super::solve::{Demand, StepSolution};
use super::state::State;
use super::trainer::Trainer;

/// Largest number of rows for which a cross-section of the quadratic of the first steps is computed.
const SECTION_ROWS: usize = 3000;

/// Number of steps with such a cross-section; that of the last of them is shown (Lin et al. 2024, Figure 6).
const SECTION_STEPS: u64 = 20;

/// Number of steps of the Lanczos iteration for the two largest eigenvalues.
const LEADING_STEPS: usize = 30;

/// The gradient of an outer step, and the results computed with it.
pub(super) struct StepGradient {
    pub(super) gradient: Gradient,
    /// Derivative of the log marginal likelihood by a constant prior mean.
    pub(super) by_mean: f64,
    /// The exact log marginal likelihood, where it was computed.
    pub(super) log_marginal_likelihood: Option<f64>,
    pub(super) solution: Option<Array2<f64>>,
    /// Inducing points of the bound whose gradient it is, M x d.
    pub(super) inducing: Option<Array2<f64>>,
    /// The state that the solver has saved for the next step.
    pub(super) solver: SolverState,
    pub(super) reason: StopReason,
    pub(super) cost: SolveCost,
    /// Wall-clock seconds outside of the solver.
    pub(super) outer: f64,
    pub(super) metrics: Metrics,
}

impl StepGradient {
    /// A gradient without solutions or costs.
    pub(super) fn new(
        gradient: Gradient,
        by_mean: f64,
        reason: StopReason,
        metrics: Metrics,
    ) -> StepGradient {
        StepGradient {
            gradient,
            by_mean,
            log_marginal_likelihood: None,
            solution: None,
            inducing: None,
            solver: SolverState::new(),
            reason,
            cost: SolveCost::default(),
            outer: 0.0,
            metrics,
        }
    }
}

impl Trainer<'_> {
    /// The gradient under a kernel, at step `count`.
    pub(super) fn gradient(
        &self,
        kernel: &Kernel,
        count: u64,
        state: &State,
        volatile: &mut VolatileObjects,
    ) -> Result<StepGradient, CaseError> {
        match self.task.gradient {
            GradientEstimator::Exact => self.by_factor(kernel),
            GradientEstimator::Features(estimator) => self.by_features(kernel, estimator, count),
            GradientEstimator::Solutions { probes, second_solve, start } => {
                self.by_solutions(kernel, (probes, second_solve, start), count, state, volatile)
            }
            GradientEstimator::Cglb { bound, start } => {
                self.by_bound(kernel, (bound, start), count, state, volatile)
            }
        }
    }

    /// Whether solves start on the line through the last two solutions.
    pub(super) fn is_extrapolated(&self) -> bool {
        self.task.gradient.start() == Some(Start::Extrapolated)
    }

    /// The gradient of the likelihood under random features, without a solve. The frequencies of `rff` are part of its
    /// model, and are drawn once; those of `ss_rff` must be drawn anew, or its estimates would have a bias.
    fn by_features(
        &self,
        kernel: &Kernel,
        estimator: FeatureEstimator,
        count: u64,
    ) -> Result<StepGradient, CaseError> {
        let began = process::now();
        let draw = match estimator {
            FeatureEstimator::Rff { .. } => 0,
            FeatureEstimator::SsRff { .. } => count,
        };
        let (likelihood, features) = estimate::likelihood_of_features(self.setup, kernel, estimator, draw)?;
        let mut metrics = Metrics::default();
        metrics.insert(names::FEATURES, features as f64);
        let Likelihood { gradient, by_mean, .. } = likelihood;
        let outer = process::now().wall - began.wall;
        Ok(StepGradient { outer, ..StepGradient::new(gradient, by_mean, StopReason::Iterations, metrics) })
    }

    /// The exact gradient, by the harness's own Cholesky factor; the solver is used only for the prediction.
    fn by_factor(&self, kernel: &Kernel) -> Result<StepGradient, CaseError> {
        let system = self.setup.system(kernel, NO_PROBES, None, None)?;
        let System { data, operator, .. } = &system;
        let (kernel, noise_scale, x) = (operator.kernel(), operator.noise_scale(), data.x_train.view());
        let began = process::now();
        let gp = ExactGp::fit(kernel, noise_scale, x, data.y_train.view(), self.setup.job.threads)?;
        let fitted = process::now();
        let gradient = gp.gradient(x);
        let outer = process::now().wall - fitted.wall;

        let v = gp.v.view().insert_axis(Axis(1));
        let mut metrics = predictions(&system, None, v);
        metrics.extend(&residuals(&system, v));
        let used = (gp.n() * (gp.n() + 1) / 2) as f64;
        Ok(StepGradient {
            log_marginal_likelihood: Some(gp.log_marginal_likelihood),
            cost: SolveCost {
                prepare: difference(fitted, began),
                entries: Entries { used, evaluated: used, ..Entries::default() },
                ..SolveCost::default()
            },
            outer,
            ..StepGradient::new(gradient, gp.v.sum(), StopReason::Converged, metrics)
        })
    }

    /// A gradient computed from solutions, with kernel entries in the precision of the solve.
    fn by_solutions(
        &self,
        kernel: &Kernel,
        (probes, second_solve, start): (Probes, bool, Start),
        count: u64,
        state: &State,
        volatile: &mut VolatileObjects,
    ) -> Result<StepGradient, CaseError> {
        let began = process::now();
        let redraw = (!start.is_warm() && count > 0).then_some(count);
        let mut system = self.setup.system(kernel, probes, redraw, None)?;
        let mut outer = process::now().wall - began.wall;
        let solved = self.solve_step(&mut system, Demand::of(start), count, state, volatile)?;
        let mut cost = solved.cost;
        let again = match second_solve {
            false => None,
            true => {
                let (again, other) = self.solve_again(kernel, start, count, state, volatile.bytes())?;
                cost = cost.plus(other);
                Some(again)
            }
        };

        let began = process::now();
        let StepSolution { x, initial, outcome, .. } = &solved;
        let gradient = estimate::gradient(&system, probes, x.view(), again.as_ref(), outcome.precision);
        outer += process::now().wall - began.wall;

        let mut metrics = solved.metrics(&system);
        metrics.extend(&predictions(&system, None, x.view()));
        if let Some(initial) = initial
            && count < SECTION_STEPS
            && system.n() <= SECTION_ROWS
            && system.columns() > 1
        {
            metrics.extend(&cross_section(&system, initial, x));
        }
        let found = StepGradient::new(gradient, x.column(0).sum(), outcome.stop_reason, metrics);
        let StepSolution { x, solver, .. } = solved;
        Ok(StepGradient { solution: Some(x), solver, cost, outer, ..found })
    }

    /// Solves for y a second time, with other random numbers and without the state and the objects that the solver
    /// keeps. The kept objects occupy `elsewhere` bytes.
    fn solve_again(
        &self,
        kernel: &Kernel,
        start: Start,
        count: u64,
        state: &State,
        elsewhere: usize,
    ) -> Result<(Array2<f64>, SolveCost), CaseError> {
        let mut system = self.setup.system(kernel, NO_PROBES, None, None)?;
        let mut x = Array2::zeros((system.n(), 1).f());
        if let Some(last) = state.solution.as_ref().filter(|_| start.is_warm()) {
            x.assign(&last.slice(s![.., ..1]));
        }
        let limits = self.limits(&system, &format!("solver/{count}/again"), state);
        let params = &self.setup.job.case.solver.params;
        let nothing =
            Carried { state: &mut SolverState::new(), volatile: &mut VolatileObjects::default(), elsewhere };
        let outcome = self.runner.solve(params, &mut system, &mut x, limits, Some(nothing))?;
        Ok((x, outcome.cost))
    }
}

/// The initial error of the first probe along the two leading eigenvectors, and the curvatures there.
fn cross_section(system: &System, initial: &Array2<f64>, x: &Array2<f64>) -> Metrics {
    let mut metrics = Metrics::default();
    let Some((curvatures, directions)) = lanczos::leading(&*system.operator, LEADING_STEPS, 2) else {
        return metrics;
    };
    let starts = directions.t().dot(&(&initial.column(1) - &x.column(1)));
    for i in 0..2 {
        metrics.insert(names::CURVATURES[i], curvatures[i]);
        metrics.insert(names::STARTS[i], starts[i]);
    }
    metrics
}
