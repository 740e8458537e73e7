//! One system that is solved under observation, as in tasks `solve` and `posterior`.

use gpbench_host::IterationInfo;
use gpbench_record::{
    FaultCause, Inducing, Message, Metrics, Probes, Solved, StopReason, Target, TaskOutput,
};
use ndarray::{Array2, ArrayView2};

use crate::evaluate::{self, is_finite};
use crate::exact_file::Reference;
use crate::failure::{CaseError, file_fault};
use crate::runner::Runner;
use crate::setup::Setup;
use crate::solution;
use crate::system::System;
use crate::trace::{CaseTrace, Goal};

/// Metrics of an iterate, with the exact reference where there is one.
pub(super) type Evaluate = fn(&System, Option<&Reference>, ArrayView2<f64>) -> Metrics;

/// A system of the case's own kernel, and its exact reference where the job names one.
pub(super) struct Problem<'s> {
    setup: &'s Setup<'s>,
    pub(super) system: System,
    pub(super) exact: Option<Reference>,
}

impl<'s> Problem<'s> {
    /// Builds the system.
    pub(super) fn build(
        setup: &'s Setup<'s>,
        probes: Probes,
        inducing: Option<Inducing>,
    ) -> Result<Problem<'s>, CaseError> {
        let system = setup.system(&setup.kernel, probes, None, inducing)?;
        Ok(Problem { setup, system, exact: setup.exact()? })
    }

    /// Solves the system, traces the iterates with the metrics of `evaluate`, if any, and writes the
    /// solution to its file.
    pub(super) fn solve(
        mut self,
        evaluate: Option<Evaluate>,
        send: &mut dyn FnMut(Message),
    ) -> Result<Solved, CaseError> {
        let runner = Runner::load(self.setup, send)?;
        let solver = runner.create(&self.setup.job.case.solver.params, &mut self.system, 0)?;
        let Problem { setup, system, exact } = &self;
        let limits = runner.limits(system, "solver");
        let evaluate = evaluate.map(|of| move |iterate: ArrayView2<f64>| of(system, exact.as_ref(), iterate));
        let goal = setup.job.case.stop_at.as_ref().and_then(|target| goal(target, exact.as_ref()));
        let mut trace = CaseTrace::new(evaluate.as_ref().map(|evaluate| evaluate as _), send).until(goal);
        let (mut outcome, x) = runner.observe(solver, system, limits, &mut trace)?;
        if trace.has_reached_goal() {
            outcome.stop_reason = StopReason::Target;
        }
        let info = IterationInfo {
            iteration: outcome.cost.iterations,
            seconds: outcome.cost.seconds(),
            epochs: outcome.cost.epochs(system.n()),
            claimed: &outcome.claimed,
        };
        let weights = system.weights(x.view().into());
        trace.close(info, weights.view());
        if !is_finite(weights.view()) {
            outcome.stop_reason = StopReason::Diverged;
        }
        solution::write(&setup.job.solution_file, weights.view()).map_err(file_fault(FaultCause::Storage))?;
        let output = TaskOutput::empty(setup.job.case.task.kind());
        Ok(runner.solved(outcome, system.view().matrix.cached_bytes(), output))
    }

    /// The solution that was written to the file, and its metrics as weights.
    pub(super) fn verify(&self) -> Result<(Array2<f64>, Metrics), CaseError> {
        let Problem { setup, system, exact } = self;
        let (_, weights) = system.predictor().shape();
        let solution = solution::read(&setup.job.solution_file, weights, system.columns())
            .map_err(file_fault(FaultCause::Solution))?;
        let mut metrics = evaluate::of_system(system, exact.as_ref());
        if is_finite(solution.view()) {
            metrics.extend(&evaluate::of_weights(system, exact.as_ref(), solution.view()));
        }
        Ok((solution, metrics))
    }
}

/// The target as a number; `None` where it is relative to numbers that are not known.
fn goal(target: &Target, exact: Option<&Reference>) -> Option<Goal> {
    let exact = exact.map(evaluate::of_exact).unwrap_or_default();
    Some(Goal { metric: target.metric.clone(), limit: target.limit(&exact, None)? })
}
