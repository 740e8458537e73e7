//! Task `learn`: a learner may stop when it likes; what counts is that its model is finite and predicts as it does.

use gpbench_record::{Status, StopReason, names};

use super::rules::{Answer, CaseStatus, Rules};
use crate::text::shortest;

/// There is nothing to compare with before the hyperparameters are known.
pub(super) const RULES: Rules =
    Rules { exact_reference: false, checkpoint: true, verified_case: |_, _| None, status };

/// The largest distance of a learner's predictions to those that the harness computes from its model.
const WIDEST_GAP: f64 = 1e-5;

fn status(answer: &Answer<'_>) -> CaseStatus {
    let Answer { solved, metrics, .. } = *answer;
    if solved.reason == StopReason::Diverged {
        return CaseStatus::new(Status::Diverged, divergence(answer));
    }
    let has_predictions = metrics.get(names::CLAIMED_TEST_RMSE).is_some();
    if solved.reason == StopReason::Time && !has_predictions && answer.steps.is_empty() {
        return out_of_time(answer);
    }
    // A number that is absent was not finite.
    if metrics.get(names::TEST_RMSE).and(metrics.get(names::TEST_NLL)).is_none() {
        return CaseStatus::new(Status::Diverged, "the model is not finite");
    }
    let has_model = solved.output.learning().is_some_and(|learning| learning.model.is_some());
    match metrics.get(names::PREDICTION_GAP) {
        Some(gap) if gap > WIDEST_GAP => {
            let reason = format!("predicts otherwise than its model: a gap of {}", shortest(gap));
            return CaseStatus::new(Status::Invalid, format!("{reason}, at most {}", shortest(WIDEST_GAP)));
        }
        // Variances of many rows are sampled, and not compared.
        None if has_model && !has_predictions => {
            return CaseStatus::new(Status::Diverged, "the predictions are not finite");
        }
        Some(_) | None => {}
    }
    if solved.reason == StopReason::Time {
        return out_of_time(answer);
    }
    CaseStatus::ok()
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

fn out_of_time(answer: &Answer<'_>) -> CaseStatus {
    let granted = answer.case.task.learning().map_or(0, |learning| learning.passes);
    let taken = answer.steps.last().and_then(|look| look.metrics.get(names::PASSES)).unwrap_or_default();
    let reason = format!("the time budget was spent after {} of {granted} passes", shortest(taken));
    CaseStatus::new(Status::NotConverged, reason)
}
