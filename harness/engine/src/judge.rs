//! The status of a case that was solved and verified, by what its task says that it is judged by.

mod attainable;
mod divergence;
mod estimates;
mod model;
mod optimum;
mod residuals;
mod steps;
mod systems;
mod verdict;

use gpbench_record::Judgement;

pub(crate) use divergence::explained;
pub(crate) use residuals::claimed_residuals;
pub(crate) use verdict::Answer;
pub use verdict::Verdict;

/// The status of a case that was solved and verified.
pub(crate) fn judge(answer: &Answer<'_>) -> Verdict {
    match answer.case.task.judgement() {
        Judgement::Residuals => systems::status(answer),
        Judgement::Steps => steps::status(answer),
        Judgement::Estimates => estimates::status(answer),
        Judgement::Model => model::status(answer),
    }
}
