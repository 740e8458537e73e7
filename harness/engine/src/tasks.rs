//! What the engine does differently from task to task: the only place that matches on tasks.

mod likelihood;
mod residuals;
mod rules;
mod systems;
mod training;

use gpbench_record::{Step, TaskKind, TaskOutput};

pub(crate) use residuals::claimed_residuals;
pub use rules::CaseStatus;
pub(crate) use rules::{Answer, Rules};

/// The rules of a task.
pub(crate) fn rules(task: TaskKind) -> &'static Rules {
    match task {
        TaskKind::Solve | TaskKind::Posterior => &systems::RULES,
        TaskKind::Train => &training::RULES,
        TaskKind::Likelihood => &likelihood::RULES,
    }
}

/// Stores outer steps, which a worker reports one by one, in the output of a task that has them.
pub(crate) fn set_steps(output: &mut TaskOutput, steps: Vec<Step>) {
    match output {
        TaskOutput::Train(training) => training.steps = steps,
        TaskOutput::Solve | TaskOutput::Posterior(_) | TaskOutput::Likelihood => {}
    }
}
