//! Task `likelihood`: repeated estimates of the log marginal likelihood and its gradient.

use gpbench_record::{Status, names};

use super::rules::{Answer, CaseStatus, Rules};

/// Verification needs more than an exact reference holds, and fits its own exact process.
pub(super) const RULES: Rules =
    Rules { exact_reference: false, checkpoint: false, verified_case: |_, _| None, status };

/// Estimates have no tolerance: they are `ok` if they are finite.
fn status(answer: &Answer<'_>) -> CaseStatus {
    match answer.metrics.get(names::QUADRATIC).and(answer.metrics.get(names::GRADIENT_BIAS)) {
        Some(_) => CaseStatus::ok(),
        None => CaseStatus::new(Status::Diverged, "an estimate is not finite"),
    }
}
