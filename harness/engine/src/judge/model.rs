//! A learner's model: a learner may stop when it likes; what counts is that its model and its predictions are finite, and
//! that both predict the same.

use gpbench_record::{CaseStatus, ModelKind, StopReason, names};

use super::verdict::{Answer, Verdict};
use crate::text::shortest;

/// The largest distance of a learner's predictions to those that the harness computes from its model.
const WIDEST_GAP: f64 = 1e-5;
/// The same for an exact process of many rows, which learners too predict from by iterative methods.
const WIDEST_ITERATIVE_GAP: f64 = 1e-2;
/// Log likelihood per row by which a start from the data may be better, in nats. Learners ascend other objectives than the
/// likelihood, so that some of a difference is theirs.
const LARGEST_START_GAP: f64 = 0.2;

/// The status of a model by its predictions.
pub(super) fn status(answer: &Answer<'_>) -> Verdict {
    let Answer { solved, metrics, .. } = *answer;
    if solved.reason == StopReason::Diverged {
        return Verdict::new(CaseStatus::Diverged, divergence(answer));
    }
    let is_known = |name: &str| metrics.get(name).is_some();
    let has_means = is_known(names::CLAIMED_TEST_RMSE);
    if solved.reason == StopReason::Time && !has_means && answer.steps.is_empty() {
        return out_of_time(answer);
    }
    let learning = solved.output.learning();
    let model = learning.and_then(|learning| learning.model);
    let declines = learning.is_some_and(|learning| learning.declined.is_some());
    // A number that is absent was not finite.
    let (of_model, of_means) = ("the model is not finite", "the predictions are not finite");
    let diverged = |reason: &str| Verdict::new(CaseStatus::Diverged, reason);
    if !is_known(names::TEST_RMSE) || (model.is_some() && !is_known(names::TEST_NLL)) {
        return diverged(if model.is_some() { of_model } else { of_means });
    }
    if declines && model.is_some() {
        return of_a_fit(answer);
    }
    let widest = model.map_or(WIDEST_GAP, |model| widest_gap(answer, model));
    if let Some(gap) = metrics.get(names::PREDICTION_GAP).filter(|gap| *gap > widest) {
        let reason = format!("predicts otherwise than its model: a gap of {}", shortest(gap));
        return Verdict::new(CaseStatus::Invalid, format!("{reason}, at most {}", shortest(widest)));
    }
    if !has_means {
        return diverged(of_means);
    }
    if !is_known(names::CLAIMED_TEST_NLL) {
        return diverged("the predictive variances are not finite and positive");
    }
    // A gap that is absent shows no agreement.
    if model.is_some() && !is_known(names::PREDICTION_GAP) {
        return diverged("the distance of the predictions to those of the model is not finite");
    }
    of_a_fit(answer)
}

/// The status of a fit whose predictions are sound.
fn of_a_fit(answer: &Answer<'_>) -> Verdict {
    if answer.solved.reason == StopReason::Time {
        return out_of_time(answer);
    }
    match answer.metrics.get(names::BELOW_START).filter(|gap| *gap > LARGEST_START_GAP) {
        Some(gap) => Verdict::new(CaseStatus::Ok, doubt(gap)),
        None => Verdict::ok(),
    }
}

/// The warning about learned hyperparameters that are so many nats per row below a start from the data.
fn doubt(gap: f64) -> String {
    let gap = shortest(gap);
    format!(
        "the learned hyperparameters are doubtful: a start from the data has a log likelihood per row {gap} above, on a \
         sample of the rows"
    )
}

/// The largest gap of a model's predictions. Those that are computed iteratively are compared on a few test rows.
fn widest_gap(answer: &Answer<'_>, model: ModelKind) -> f64 {
    let (family, n) = (answer.case.kernel.family, answer.solved.n);
    if answer.case.task.learning().is_some_and(|learning| learning.is_iterative(model, family, n)) {
        WIDEST_ITERATIVE_GAP
    } else {
        WIDEST_GAP
    }
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
