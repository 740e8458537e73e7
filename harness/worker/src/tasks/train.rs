//! Task `train`: an outer loop around the solver.
//!
//! Each step builds the operator and the right-hand sides under the step's hyperparameters, lets a new
//! object of the solver solve them, and moves the hyperparameters along a gradient computed from the
//! solutions. With warm starts the right-hand sides are the same draws in every step, and the
//! solve starts from the last solutions; without them, probes are drawn again and the solve starts from zero. The
//! state that the solver saves in a step is available in the next, and so are the objects that it keeps in memory,
//! unless the case was continued in a new process.
//!
//! Where random features replace the kernel, or a Cholesky factor gives the exact gradient, a step solves no
//! system, and only the prediction needs the solver. Where the gradient is that of a bound, a step solves for y alone.
//!
//! The metrics of a step (one product for its residuals, predictions on the test rows, the exact likelihood where
//! there are few rows) are computed while no clock runs.
//! After the last step the posterior under the final hyperparameters is solved for, as by task
//! `posterior`, for verification. Training that cannot go on, since a matrix is singular in double precision or a number
//! is not finite, ends there: its result is that of the last step.

mod bound;
mod checkpoint;
mod gradient;
mod initialise;
mod landscape;
mod prediction;
mod solve;
mod state;
mod step;
mod trainer;

use gpbench_host::SolveCost;
use gpbench_record::{
    FaultCause, Message, Metrics, Solved, TaskOutput, Training, TrainingOutput, Verified, names,
};

use crate::failure::{CaseError, file_fault, invalid};
use crate::runner::Runner;
use crate::setup::Setup;
use gpbench_host::{SolveOutcome, VolatileObjects};

use prediction::Prediction;
use trainer::Trainer;

/// Trains and predicts; `send` receives the steps.
pub(super) fn run(
    setup: &Setup,
    task: &Training,
    send: &mut dyn FnMut(Message),
) -> Result<Solved, CaseError> {
    if setup.rows.dataset.collapse_duplicates {
        return Err(invalid(
            "a data set of collapsed duplicates cannot be trained on: steps start from weights of all rows",
        ));
    }
    let trainer = Trainer { setup, task, runner: Runner::load(setup, send)? };
    let mut state = trainer.begin()?;
    let mut volatile = VolatileObjects::default();
    state.steps.iter().for_each(|step| send(Message::Step(step.clone())));
    let mut failed = None;
    while (state.steps.len() as u64) < task.steps && trainer.seconds_left(&state).is_none_or(|s| s > 0.0) {
        match trainer.step(&mut state, &mut volatile) {
            Ok(step) => send(Message::Step(step)),
            // The steps before have a result.
            Err(CaseError::Numerical(failure)) => {
                failed = Some(failure);
                break;
            }
            Err(error) => return Err(error),
        }
        if let Some(file) = &setup.job.checkpoint_file {
            checkpoint::write(file, &state).map_err(file_fault(FaultCause::Storage))?;
        }
    }
    let prediction = trainer.predict(&state, &mut volatile, failed)?;
    let Prediction { outcome, kernel, cached_bytes, divergence, bound } = prediction;
    // Dropped before the solution counts, because a plugin that crashes while it frees its memory has corrupted
    // memory.
    trainer.runner.aside(|| drop(volatile));
    let SolveCost { prepare, solve, .. } = outcome.cost;
    let metrics = [
        (names::STEPS, state.steps.len() as f64),
        (names::SECONDS_TRAIN, state.cost.seconds() + state.outer),
        (names::SECONDS_PREDICT, prepare.plus(solve).wall),
        (names::EPOCHS_PREDICT, outcome.cost.epochs(setup.rows.n())),
    ];
    let output = TaskOutput::Train(Box::new(TrainingOutput {
        hyperparameters: kernel.hyperparameters(),
        landscape: trainer.landscape(&state)?,
        divergence,
        ..TrainingOutput::default()
    }));
    let outcome = SolveOutcome { cost: state.cost, ..outcome };
    let fits = state.unconverged_fits.map(|count| (names::UNCONVERGED_FITS, count as f64));
    let metrics =
        metrics.into_iter().chain(fits).map(|(name, value)| (name.to_owned(), value)).collect::<Metrics>();
    let mut solved = trainer.runner.solved(outcome, cached_bytes, output);
    solved.metrics.extend(&metrics);
    solved.metrics.extend(&bound);
    Ok(solved)
}

/// The solution of a training case is that of its prediction, a case of task `posterior`, which is verified in its
/// place.
pub(super) fn verify() -> Result<Verified, CaseError> {
    Err(invalid("a training case is verified by the posterior that it ends with"))
}
