//! One solve under observation, which tasks `solve` and `posterior` consist of.

use gpbench_record::{Failure, Message, Metrics, Solved, StopReason, TaskOutput};
use ndarray::ArrayView2;

use crate::evaluate::is_finite;
use crate::failure::invalid;
use crate::plugin::IterationInfo;
use crate::runner::Runner;
use crate::setup::Setup;
use crate::solution;
use crate::system::System;
use crate::trace::Trace;

/// Metrics of an iterate.
pub(super) type Evaluate<'e> = &'e dyn Fn(&System, ArrayView2<f64>) -> Metrics;

/// Solves the system, traces the iterates with the metrics of `evaluate`, if there are any, and writes the solution
/// to its file. `build_seconds` were spent on the system.
pub(super) fn run(
    setup: &Setup,
    mut system: System,
    build_seconds: f64,
    evaluate: Option<Evaluate>,
    send: &mut dyn FnMut(Message),
) -> Result<Solved, Failure> {
    let runner = Runner::load(setup, build_seconds)?;
    let mut solver = runner.create(&setup.job.case.solver.params, &mut system)?;
    let limits = runner.limits(&system, "solver");
    let evaluate = evaluate.map(|evaluate| |iterate: ArrayView2<f64>| evaluate(&system, iterate));
    let mut trace = Trace::new(evaluate.as_ref().map(|evaluate| evaluate as _), send);
    let (mut outcome, x) = runner.observe(&mut solver, &system, limits, &mut trace)?;
    let info = IterationInfo {
        iteration: outcome.cost.iterations,
        seconds: outcome.cost.seconds(),
        epochs: outcome.cost.epochs(system.n()),
        claimed: &outcome.claimed,
    };
    let weights = system.weights(x.view().into());
    trace.close(info, weights.view());
    // Before the solution counts: a plugin that crashes while it frees its memory has corrupted something.
    drop(solver);

    if !is_finite(weights.view()) {
        outcome.reason = StopReason::Diverged;
    }
    solution::write(&setup.job.solution_file, weights.view()).map_err(invalid)?;
    let output = TaskOutput::empty(setup.job.case.task.kind());
    Ok(runner.solved(outcome, system.view().matrix.cached_bytes(), output))
}
