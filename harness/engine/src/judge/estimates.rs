//! Repeated estimates of the log marginal likelihood and its gradient.

use gpbench_record::{CaseStatus, names};

use super::verdict::{Answer, Verdict};

/// Estimates have no tolerance: they are `ok` if they are finite.
pub(super) fn status(answer: &Answer<'_>) -> Verdict {
    match answer.metrics.get(names::QUADRATIC).and(answer.metrics.get(names::GRADIENT_BIAS)) {
        Some(_) => Verdict::ok(),
        None => Verdict::new(CaseStatus::Diverged, "an estimate is not finite"),
    }
}
