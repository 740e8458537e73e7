//! Outer steps that are compared with the tolerance, each by itself: of training and of Thompson sampling.

use gpbench_record::{CaseStatus, Step, StopReason, TaskOutput, WITHIN, names};

use super::attainable;
use super::optimum;
use super::residuals::{DIVERGED, found, is_false, rounding};
use super::systems;
use super::verdict::{Answer, Verdict};
use crate::text::shortest;

/// The status of the last systems, which were verified, or that of the steps where those have an answer and the steps fall
/// short. Steps that ended at a singular matrix have diverged, whatever the systems of the last one come to. Training that
/// is `ok` has a warning for its reason where its optimum is doubtful.
pub(super) fn status(answer: &Answer<'_>) -> Verdict {
    let why = match &answer.solved.output {
        TaskOutput::Train(training) => training.divergence.as_ref(),
        TaskOutput::Thompson(search) => search.divergence.as_ref(),
        _ => None,
    };
    if let Some(why) = why {
        return Verdict::new(CaseStatus::Diverged, why);
    }
    let last = systems::status(answer);
    let verdict = if last.status.is_answer() { of_steps(answer).unwrap_or(last) } else { last };
    match verdict.status {
        CaseStatus::Ok => Verdict { reason: optimum::doubts(answer).unwrap_or_default(), ..verdict },
        _ => verdict,
    }
}

/// The status of the steps, unless all of them are as asked for.
fn of_steps(answer: &Answer<'_>) -> Option<Verdict> {
    let Answer { case, steps, .. } = *answer;
    if let Some(step) = steps.iter().find(|step| worst(step) > DIVERGED) {
        let reason = format!("step {}: {}", step.step, found(worst(step)));
        return Some(Verdict::new(CaseStatus::Diverged, reason));
    }
    if let Some(tolerance) = case.budget.tolerance {
        let own = |step: &Step| step.metrics.get(names::STEP_TOLERANCE).unwrap_or(tolerance);
        let lies = |step: &Step| {
            let claims = step.reason == StopReason::Converged || claim(step).is_some_and(|c| c <= own(step));
            claims && is_false(worst(step), own(step), attainable::of_step(answer, step))
        };
        if let Some(step) = steps.iter().find(|step| lies(step)) {
            let what = found(worst(step));
            let reason = format!("step {} claims the tolerance {}; {what}", step.step, shortest(own(step)));
            return Some(Verdict::new(CaseStatus::Invalid, reason));
        }
        let short: Vec<&Step> =
            steps.iter().copied().filter(|step| worst(step) > own(step) * WITHIN).collect();
        if let Some(first) = short.first() {
            let largest = |of: &dyn Fn(&Step) -> f64| steps.iter().map(|step| of(step)).fold(0.0, f64::max);
            let what = format!("{} of {} steps fell short of the tolerance", short.len(), steps.len());
            let which = match first.metrics.get(names::STEP_TOLERANCE) {
                None => shortest(tolerance),
                Some(own) => format!("of their estimator, {} at step {}", shortest(own), first.step),
            };
            let reason = format!("{what} {which}; worst {}", found(largest(&worst)));
            let attainable = largest(&|step| attainable::of_step(answer, step));
            return Some(Verdict::new(CaseStatus::NotConverged, reason + &rounding(own(first), attainable)));
        }
    }
    let (taken, wanted) = (steps.len(), case.task.most_steps());
    (taken < wanted).then(|| {
        let reason = format!("the time budget was spent after {taken} of {wanted} steps");
        Verdict::new(CaseStatus::NotConverged, reason)
    })
}

/// The larger of the true residual of y and the mean of the probes' ones.
fn worst(step: &Step) -> f64 {
    let residuals = [names::RESIDUAL_Y, names::RESIDUAL_PROBES].map(|name| step.metrics.get(name));
    residuals.into_iter().flatten().fold(0.0, f64::max)
}

/// The larger of the claimed residual of y and the mean of the probes' ones.
fn claim(step: &Step) -> Option<f64> {
    let claims = [names::CLAIMED_Y, names::CLAIMED_PROBES].map(|name| step.metrics.get(name));
    claims.into_iter().flatten().reduce(f64::max)
}
