//! The solve of an outer step: its limits, its initial iterate, and what it led to.

use gpbench_gp::{metrics, train};
use gpbench_host::{SolveCost, SolveLimits, SolveOutcome, SolverState, VolatileObjects, difference};
use gpbench_numerics::LinearOperator;
use gpbench_record::{Arithmetic, Entries, Metrics, Start, names};
use ndarray::{Array2, ShapeBuilder, s};

use crate::evaluate::weights::{claims, residuals_of_solve};
use crate::failure::CaseError;
use crate::process;
use crate::runner::Carried;
use crate::system::System;

use super::state::State;
use super::trainer::Trainer;

/// Largest number of rows for which the distance to the initial iterate is measured, at the cost of one product.
const DISTANCE_ROWS: usize = 20_000;

/// What an estimator asks of the solve of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demand {
    /// Where the solve starts.
    pub(super) start: Start,
    /// Tolerance in place of the budget's.
    pub(super) tolerance: Option<f64>,
    /// Kernel entries of the step beside the solve, which its budget pays for too.
    pub(super) entries: f64,
    /// Bytes that the step needs after the solve.
    pub(super) bytes: usize,
}

impl Demand {
    /// A solve within the budget that starts so.
    pub(super) fn of(start: Start) -> Demand {
        Demand { start, tolerance: None, entries: 0.0, bytes: 0 }
    }
}

/// What the solve of a step led to.
pub(super) struct StepSolution {
    /// The solutions, n x (1 + s).
    pub(super) x: Array2<f64>,
    /// The initial iterate, where there are few rows.
    pub(super) initial: Option<Array2<f64>>,
    /// The state that the solver has saved for the next step.
    pub(super) solver: SolverState,
    /// Cost of the solve and of its initial iterate.
    pub(super) cost: SolveCost,
    pub(super) outcome: SolveOutcome,
}

impl StepSolution {
    /// Claims, true residuals, and the distance to the initial iterate. No clock runs.
    pub(super) fn metrics(&self, system: &System) -> Metrics {
        let mut found = claims(&self.outcome.claimed);
        found.extend(&residuals_of_solve(system, self.x.view(), &self.outcome));
        if let Some(initial) = &self.initial {
            found.insert(names::INITIAL_DISTANCE, distance(system, initial, &self.x, self.outcome.precision));
        }
        found
    }
}

impl Trainer<'_> {
    /// Solves the system of step `count`.
    pub(super) fn solve_step(
        &self,
        system: &mut System,
        demand: Demand,
        count: u64,
        state: &State,
        volatile: &mut VolatileObjects,
    ) -> Result<StepSolution, CaseError> {
        let (mut x, cost) = self.initial_iterate(system, demand.start, state);
        let initial = (system.n() <= DISTANCE_ROWS).then(|| x.clone());
        let limits = self.limits(system, &format!("solver/{count}"), state);
        let beside = cost.epochs(system.n()) + demand.entries / (system.n() as f64).powi(2);
        let max_epochs = limits.max_epochs.map(|most| (most - beside).max(0.0));
        let tolerance = demand.tolerance.or(limits.tolerance);
        let limits = SolveLimits { max_epochs, tolerance, ..limits };
        let mut solver = state.solver.clone();
        let params = &self.setup.job.case.solver.params;
        let carried = Carried { state: &mut solver, volatile, elsewhere: demand.bytes };
        let outcome = self.runner.solve(params, system, &mut x, limits, Some(carried))?;
        let cost = cost.plus(outcome.cost);
        Ok(StepSolution { x, initial, solver, cost, outcome })
    }

    /// The limits of one solve of a step.
    pub(super) fn limits(&self, system: &System, stream: &str, state: &State) -> SolveLimits {
        SolveLimits { seconds: self.seconds_left(state), ..self.runner.limits(system, stream) }
    }

    /// The initial iterate of a step, and the cost of computing it.
    fn initial_iterate(&self, system: &System, start: Start, state: &State) -> (Array2<f64>, SolveCost) {
        let mut x = Array2::zeros((system.n(), system.columns()).f());
        let Some(last) = state.solution.as_ref().filter(|_| start.is_warm()) else {
            return (x, SolveCost::default());
        };
        let Some(before) = state.before.as_ref().filter(|_| start == Start::Extrapolated) else {
            x.assign(last);
            return (x, SolveCost::default());
        };
        let began = process::now();
        let rhs = system.targets.rhs.view();
        x = train::extrapolate(&*system.operator, rhs, last.view(), before.view());
        let solve = difference(process::now(), began);
        // One product with H.
        let used = (system.n() as f64).powi(2);
        let entries = Entries { used, evaluated: used, ..Entries::default() };
        (x, SolveCost { solve, entries, ..SolveCost::default() })
    }
}

/// Root mean square over the probes, or over y where there are none, of |x_0 - x|_H, with kernel entries in the precision
/// of the solve.
fn distance(system: &System, initial: &Array2<f64>, x: &Array2<f64>, precision: Arithmetic) -> f64 {
    let of_probes = usize::from(x.ncols() > 1);
    let mut moved = Array2::zeros((x.nrows(), x.ncols() - of_probes).f());
    moved.assign(&(x - initial).slice(s![.., of_probes..]));
    let operator: &dyn LinearOperator = match precision {
        Arithmetic::F64 => &*system.operator,
        Arithmetic::Mixed => system.operator.mixed().unwrap_or(&*system.operator),
    };
    let norms = metrics::energy_norms(operator, moved.view());
    (norms.iter().map(|norm| norm * norm).sum::<f64>() / norms.len() as f64).sqrt()
}
