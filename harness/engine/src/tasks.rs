//! What the engine does differently from task to task: the only place that matches on tasks.

mod learning;
mod likelihood;
mod residuals;
mod rules;
mod steps;
mod systems;
mod thompson;
mod training;

use gpbench_record::TaskKind;

pub(crate) use residuals::claimed_residuals;
pub use rules::CaseStatus;
pub(crate) use rules::{Answer, Rules};

/// The rules of a task.
pub(crate) fn rules(task: TaskKind) -> &'static Rules {
    match task {
        TaskKind::Solve | TaskKind::Posterior => &systems::RULES,
        TaskKind::Train => &training::RULES,
        TaskKind::Likelihood => &likelihood::RULES,
        TaskKind::Learn => &learning::RULES,
        TaskKind::Thompson => &thompson::RULES,
    }
}
