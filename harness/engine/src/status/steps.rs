//! What the outer steps of training say of a case.

use gpbench_record::{Case, Message, Status, Step, StopReason, names};

use super::{DIVERGED, FALSE_CLAIM, Verdict, WITHIN, found, shortest};
use crate::executor::Outcome;

/// What the steps of training make of a case, if they are not all as asked for.
pub(super) fn verdict(case: &Case, steps: &[&Step]) -> Option<Verdict> {
    let asked = case.train.as_ref()?.steps;
    if let Some(step) = steps.iter().find(|step| worst(step) > DIVERGED) {
        let reason = format!("step {}: {}", step.step, found(worst(step)));
        return Some(Verdict::new(Status::Diverged, reason));
    }
    if let Some(tolerance) = case.budget.tolerance {
        let is_false = |step: &Step| {
            let claims = step.reason == StopReason::Converged || claim(step).is_some_and(|c| c <= tolerance);
            claims && worst(step) > tolerance * FALSE_CLAIM
        };
        if let Some(step) = steps.iter().find(|step| is_false(step)) {
            let what = found(worst(step));
            let reason = format!("step {} claims the tolerance {}; {what}", step.step, shortest(tolerance));
            return Some(Verdict::new(Status::Invalid, reason));
        }
        let short = steps.iter().filter(|step| worst(step) > tolerance * WITHIN).count();
        if short > 0 {
            let most = steps.iter().map(|step| worst(step)).fold(0.0, f64::max);
            let what = format!("{short} of {} steps fell short of the tolerance", steps.len());
            let reason = format!("{what} {}; worst {}", shortest(tolerance), found(most));
            return Some(Verdict::new(Status::NotConverged, reason));
        }
    }
    let taken = steps.len() as u64;
    (taken < asked).then(|| {
        let reason = format!("the time budget was spent after {taken} of {asked} steps");
        Verdict::new(Status::NotConverged, reason)
    })
}

/// The outer steps that were reported.
pub(super) fn reported(outcome: &Outcome) -> Vec<&Step> {
    let messages = outcome.messages.iter();
    messages
        .filter_map(|message| match message {
            Message::Step(step) => Some(step),
            _ => None,
        })
        .collect()
}

/// The larger of the true residual of y and the mean of the probes' ones.
fn worst(step: &Step) -> f64 {
    let residuals = [names::RESIDUAL_Y, names::RESIDUAL_PROBES].map(|name| step.metrics.get(name));
    residuals.into_iter().flatten().fold(0.0, f64::max)
}

/// The same of what the solver claims.
fn claim(step: &Step) -> Option<f64> {
    let claims = [names::CLAIMED_Y, names::CLAIMED_PROBES].map(|name| step.metrics.get(name));
    claims.into_iter().flatten().reduce(f64::max)
}
