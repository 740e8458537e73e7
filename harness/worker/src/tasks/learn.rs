//! Task `learn`: a learner fits by itself, and the harness evaluates its model from time to time.
//!
//! The learner runs until the next evaluation is due and returns with its state kept. The harness takes the model, as
//! named arrays, evaluates it by its own code, and then writes the state to the checkpoint, while no clock runs. The
//! model of the best evaluation is the result. The learner receives test inputs only after its last step; verification
//! compares its predictions there with those of its model. A learner with a model may decline to predict.

mod checkpoint;
mod fitting;
mod look;
mod problem;
mod recorder;
mod state;
mod verification;

use gpbench_gp::Arithmetic;
use gpbench_host::SolveCost;
use gpbench_record::{Learning, LearningOutput, Message, Metrics, Solved, TaskOutput, Verified, names};

use crate::failure::CaseError;
use crate::setup::Setup;
use gpbench_host::SolveOutcome;

use fitting::{Ended, Fitting};

/// Fits and predicts; `send` receives the steps and the evaluations.
pub(super) fn run(
    setup: &Setup,
    task: &Learning,
    send: &mut dyn FnMut(Message),
) -> Result<Solved, CaseError> {
    let fitting = Fitting::load(setup, task, send)?;
    let Ended { reason, state, selected, declined, predict } = fitting.run(send)?;
    let cost = state.progress.cost;
    let counts = [
        (names::PASSES, cost.passes(setup.rows.n())),
        (names::ROWS, cost.rows),
        (names::FEATURE_ROWS, cost.features),
        // NaN, and therefore left out, where there was no step, or no prediction.
        (names::SECONDS_PER_STEP, cost.fit.wall / cost.steps as f64),
        (names::SECONDS_PREDICT, predict),
    ];
    let objective = state.record.objective.map(|value| (names::CLAIMED_OBJECTIVE, value));
    let metrics = counts.into_iter().chain(objective).map(|(name, value)| (name.to_owned(), value));
    let output = TaskOutput::Learn(Box::new(LearningOutput {
        selected: selected.as_ref().map(|selected| selected.look),
        model: selected.as_ref().and_then(|selected| selected.kind),
        hyperparameters: selected.map(|selected| selected.hyperparameters).unwrap_or_default(),
        divergence: state.divergence,
        declined,
        ..LearningOutput::default()
    }));
    let outcome = SolveOutcome {
        reason: reason.reason(),
        stop_reason: reason,
        claimed: Vec::new(),
        values: state.values,
        cost: SolveCost {
            iterations: cost.steps,
            prepare: cost.begin,
            solve: cost.fit,
            entries: cost.entries,
        },
        uncounted: state.progress.uncounted(),
        precision: Arithmetic::F64,
        product: None,
    };
    let mut solved = fitting.solved(outcome, output);
    solved.metrics.extend(&metrics.collect::<Metrics>());
    Ok(solved)
}

/// Evaluates the model of a case in a process that never opens the plugin.
pub(super) fn verify(setup: &Setup, task: &Learning) -> Result<Verified, CaseError> {
    verification::verify(setup, task)
}
