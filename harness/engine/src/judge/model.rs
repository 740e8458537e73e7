//! A learner's model: a learner may stop when it likes; what counts is that its model is finite and predicts as it does.

use gpbench_record::{CaseStatus, StopReason, names};

use super::verdict::{Answer, Verdict};
use crate::text::shortest;

/// The largest distance of a learner's predictions to those that the harness computes from its model.
const WIDEST_GAP: f64 = 1e-5;

/// The status of a model by its predictions.
pub(super) fn status(answer: &Answer<'_>) -> Verdict {
    let Answer { solved, metrics, .. } = *answer;
    if solved.reason == StopReason::Diverged {
        return Verdict::new(CaseStatus::Diverged, divergence(answer));
    }
    let has_predictions = metrics.get(names::CLAIMED_TEST_RMSE).is_some();
    if solved.reason == StopReason::Time && !has_predictions && answer.steps.is_empty() {
        return out_of_time(answer);
    }
    // A number that is absent was not finite.
    if metrics.get(names::TEST_RMSE).and(metrics.get(names::TEST_NLL)).is_none() {
        return Verdict::new(CaseStatus::Diverged, "the model is not finite");
    }
    let has_model = solved.output.learning().is_some_and(|learning| learning.model.is_some());
    match metrics.get(names::PREDICTION_GAP) {
        Some(gap) if gap > WIDEST_GAP => {
            let reason = format!("predicts otherwise than its model: a gap of {}", shortest(gap));
            return Verdict::new(CaseStatus::Invalid, format!("{reason}, at most {}", shortest(WIDEST_GAP)));
        }
        // Variances of many rows are sampled, and not compared.
        None if has_model && !has_predictions => {
            return Verdict::new(CaseStatus::Diverged, "the predictions are not finite");
        }
        Some(_) | None => {}
    }
    if solved.reason == StopReason::Time {
        return out_of_time(answer);
    }
    Verdict::ok()
}

/// Why a fit has diverged, and when.
fn divergence(answer: &Answer<'_>) -> String {
    let why = answer.solved.output.learning().and_then(|learning| learning.divergence.as_deref());
    let why = why.unwrap_or("the learner reports divergence");
    let at = |name: &str| answer.steps.last().and_then(|look| look.metrics.get(name));
    let count = |number: f64, one: &str, more: &str| {
        format!("{} {}", shortest(number), if number == 1.0 { one } else { more })
    };
    match (at(names::ITERATIONS), at(names::PASSES)) {
        (Some(steps), Some(passes)) => {
            let (steps, passes) = (count(steps, "step", "steps"), count(passes, "pass", "passes"));
            format!("after {steps} ({passes}): {why}")
        }
        _ => why.to_owned(),
    }
}

fn out_of_time(answer: &Answer<'_>) -> Verdict {
    let granted = answer.case.task.learning().map_or(0, |learning| learning.passes);
    let taken = answer.steps.last().and_then(|look| look.metrics.get(names::PASSES)).unwrap_or_default();
    let reason = format!("the time budget was spent after {} of {granted} passes", shortest(taken));
    Verdict::new(CaseStatus::NotConverged, reason)
}
