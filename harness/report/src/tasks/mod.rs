//! The part of a report that belongs to a task: one module a task.

mod learn;
mod likelihood;
mod posterior;
mod section;
mod solve;
mod thompson;
mod train;

use gpbench_record::TaskKind;

pub(crate) use section::Section;

/// The section of a task.
pub(crate) fn section(task: TaskKind) -> &'static dyn Section {
    match task {
        TaskKind::Solve => &solve::Solve,
        TaskKind::Posterior => &posterior::Posterior,
        TaskKind::Train => &train::Train,
        TaskKind::Likelihood => &likelihood::Likelihood,
        TaskKind::Learn => &learn::Learn,
        TaskKind::Thompson => &thompson::Thompson,
    }
}
