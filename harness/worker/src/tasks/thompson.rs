//! Task `thompson`: parallel Thompson sampling, an outer loop around any solver.
//!
//! Each outer step draws prior functions, lets the solver solve for y and for these functions, evaluates the resulting
//! posterior samples at random candidates, maximises each sample by gradient ascent from the best candidates, and
//! evaluates the objective at the end points (Lin et al. 2023, section 4.2 and appendix A.3). The harness does
//! everything except the solves, with random streams that depend on the seed, the data set and the step, so all
//! solvers have the same objective, prior functions and candidates.
//!
//! Prior functions are drawn anew in each step, unless solutions are carried over. The solver's clock runs only during
//! its solves; the other parts of a step are timed separately.

mod acquisition;
mod checkpoint;
mod illustration;
mod posed;
mod search;
mod solution;
mod state;
mod step;
mod verification;

use gpbench_host::SolveOutcome;
use gpbench_record::{
    Arithmetic, Failure, FaultCause, Message, Metrics, Solved, StopReason, TaskOutput, Thompson,
    ThompsonOutput, Verified, names,
};

use crate::failure::{CaseError, diverged, file_fault};
use crate::runner::Runner;
use crate::setup::Setup;

use search::Search;
use state::State;

/// Searches; `send` receives the steps.
pub(super) fn run(
    setup: &Setup,
    task: &Thompson,
    send: &mut dyn FnMut(Message),
) -> Result<Solved, CaseError> {
    let search = Search::new(setup, task)?;
    let runner = Runner::load(setup, send)?;
    let mut state = search.begin()?;
    state.saved.steps.iter().for_each(|step| send(Message::Step(step.clone())));
    let mut divergence = None;
    while state.taken() < task.steps && search.seconds_left(&state).is_none_or(|seconds| seconds > 0.0) {
        match search.step(&runner, &mut state) {
            Ok(step) => send(Message::Step(step)),
            Err(CaseError::Numerical(Failure { reason, .. })) => {
                let (step, reason) = (state.taken(), format!("step {}: {reason}", state.taken()));
                let Some(last) = step.checked_sub(1) else { return Err(diverged(reason)) };
                divergence = Some(format!("{reason}; the result is that of step {last}"));
                break;
            }
            Err(error) => return Err(error),
        }
        if let Some(file) = &setup.job.checkpoint_file {
            checkpoint::write(file, search.shape(), &state).map_err(file_fault(FaultCause::Storage))?;
        }
    }
    solution::write(&setup.job.solution_file, &state).map_err(file_fault(FaultCause::Storage))?;
    Ok(solved(&runner, state, divergence))
}

/// The measurements of the whole search.
fn solved(runner: &Runner<'_>, state: State, divergence: Option<String>) -> Solved {
    let sum =
        |name: &str| -> f64 { state.saved.steps.iter().filter_map(|step| step.metrics.get(name)).sum() };
    let epochs = state.saved.epochs;
    let pose = sum(names::SECONDS_POSE);
    let (candidates, ascent) = (sum(names::SECONDS_CANDIDATES), sum(names::SECONDS_ASCENT));
    let metrics = [
        (names::STEPS, state.taken() as f64),
        (names::EPOCHS, epochs.used),
        (names::EPOCHS_SETUP, epochs.setup),
        (names::EPOCHS_EVALUATED, epochs.evaluated),
        (names::EPOCHS_FOUND, epochs.found),
        (names::EPOCHS_SELF_REPORTED, epochs.self_reported),
        (names::ENTRIES, state.saved.cost.entries.used),
        (names::ENTRIES_ACQUIRE, sum(names::ENTRIES_ACQUIRE)),
        (names::SECONDS_CANDIDATES, candidates),
        (names::SECONDS_ASCENT, ascent),
        (names::SECONDS_TOTAL, pose + state.saved.cost.seconds() + candidates + ascent),
    ];
    let metrics: Metrics = metrics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let saved = state.saved;
    let reason = saved.steps.last().expect("a search takes a step").reason;
    let stop_reason = if divergence.is_some() { StopReason::Diverged } else { reason };
    let outcome = SolveOutcome {
        reason: stop_reason.reason(),
        stop_reason,
        claimed: saved.claimed,
        values: saved.values,
        cost: saved.cost,
        uncounted: 0.0,
        precision: Arithmetic::F64,
        product: None,
    };
    let output = TaskOutput::Thompson(Box::new(ThompsonOutput {
        points: state.points.iter().copied().collect(),
        illustration: saved.illustration,
        divergence,
        ..ThompsonOutput::default()
    }));
    let mut solved = runner.solved(outcome, saved.cached_bytes, output);
    solved.metrics.extend(&metrics);
    Solved { build_seconds: pose, ..solved }
}

/// Evaluates the objective again, and evaluates the last step, in a process that never opens the plugin.
pub(super) fn verify(setup: &Setup, task: &Thompson) -> Result<Verified, CaseError> {
    verification::verify(&Search::new(setup, task)?)
}
