//! What a user can do about a divergence: after how many iterations it diverged and in which column, the parameter to lower,
//! and the log.

use gpbench_record::{Case, Message, ParamValue, Solved, Task, TaskOutput, counted, names};

use crate::Outcome;
use crate::text::shortest;

/// Names of parameters that scale the steps of a method, the most common first.
const STEPS: [&str; 4] = ["learning_rate", "step_size", "step", "relaxation"];

/// The reason of a divergence, with what helps to find its cause. `bad_column` is the first column of the solution that is not
/// finite, and `log` the path of the case's log in the run folder.
pub(crate) fn explained(
    reason: &str,
    case: &Case,
    solving: &Outcome,
    bad_column: Option<usize>,
    log: Option<&str>,
) -> String {
    let solved = solving.solved();
    let when = when(case, solved, solving.steps().len()).filter(|_| !reason.starts_with("step "));
    let parts = [
        Some(reason.to_owned()),
        when,
        bad_column.and_then(|_| last_finite(solving)),
        bad_column.map(named),
        parameter(case, solved),
        log.map(|log| format!("log: {log}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// A column of the solution as its user knows it.
fn named(column: usize) -> String {
    match column {
        0 => "first bad column: 0 (y)".to_owned(),
        column => format!("first bad column: {column} (probe {column})"),
    }
}

/// The last iteration whose norms were finite, where later ones were not. A trace leaves out what is not finite.
fn last_finite(solving: &Outcome) -> Option<String> {
    let ended = solving.solved()?.iterations;
    let point = solving.messages.iter().rev().find_map(|message| match message {
        Message::Trace(point) if point.metrics.get(names::CLAIMED_Y).is_some() => Some(point),
        _ => None,
    })?;
    (point.iteration < ended).then(|| format!("norms were finite until iteration {}", point.iteration))
}

/// How far the solver came. The reason of a learner's divergence says it, and that of an outer step names the step.
fn when(case: &Case, solved: Option<&Solved>, steps: usize) -> Option<String> {
    let solved = solved?;
    match case.task {
        Task::Learn(_) => None,
        Task::Train(_) | Task::Thompson(_) => Some(format!("after {}", counted(steps, "step"))),
        _ => Some(format!("after {}", counted(solved.iterations as usize, "iteration"))),
    }
}

/// The parameter that makes steps shorter, with its value: one of the solver or learner, or else the learning rate of training.
/// Where training could not take a step, it is the latter.
fn parameter(case: &Case, solved: Option<&Solved>) -> Option<String> {
    let output = solved.map(|solved| &solved.output);
    let is_trainings = matches!(output, Some(TaskOutput::Train(training)) if training.divergence.is_some());
    let number = |name: &str| match case.solver.params.get(name)? {
        ParamValue::Float(number) => Some(*number),
        ParamValue::Int(_) | ParamValue::Bool(_) | ParamValue::Text(_) => None,
    };
    let positive = |name: &&str| number(name).is_some_and(|number| number > 0.0);
    if let Some(name) = STEPS.into_iter().filter(|_| !is_trainings).find(positive) {
        let value = number(name).unwrap_or_default();
        return Some(format!("lower `{name}` of `{}`, now {}", case.solver.name, shortest(value)));
    }
    let training = case.task.training()?;
    Some(format!("lower `learning_rate` of [train], now {}", shortest(training.learning_rate)))
}
