//! Systems whose solution is verified: those of tasks `solve` and `posterior`, the prediction that ends training, and those of
//! the last step of Thompson sampling.

use gpbench_record::{CaseStatus, Solved, StopReason, WITHIN, names};

use super::attainable;
use super::residuals::{DIVERGED, claimed_residuals, found, is_false, rounding, stopped_short};
use super::verdict::{Answer, Verdict};
use crate::text::shortest;

/// The status of solutions by their true residuals, or by the solver's report where there are no residuals.
pub(super) fn status(answer: &Answer<'_>) -> Verdict {
    let Answer { case, solved, metrics, .. } = *answer;
    let y = metrics.get(names::RESIDUAL_Y);
    let probes = metrics.get(names::RESIDUAL_PROBES);
    // A residual that is absent was not finite, unless the solution has no residual at all.
    // Weights of inducing points are judged by what they predict or find.
    let figure = metrics.get(names::TEST_RMSE).or_else(|| metrics.get(names::BEST));
    let measured = y.is_some() || (figure.is_some() && case.task.inducing().is_some());
    if !measured || (y.is_some() && probes.is_none() && case.task.right_hand_sides() > 1) {
        return Verdict::new(CaseStatus::Diverged, "the solution is not finite");
    }
    let tolerance = case.budget.tolerance;
    let worst = y.into_iter().chain(probes).fold(0.0, f64::max);
    let has_diverged = solved.reason == StopReason::Diverged || worst > DIVERGED;
    if let Some(status) = against_target(answer).filter(|_| !has_diverged) {
        return status;
    }
    if case.task.inducing().is_some() {
        return without_residuals(solved.reason, tolerance.is_some());
    }
    if solved.reason == StopReason::Diverged {
        return Verdict::new(
            CaseStatus::Diverged,
            format!("the solver reports divergence; {}", found(worst)),
        );
    }
    if worst > DIVERGED {
        return Verdict::new(CaseStatus::Diverged, found(worst));
    }
    match tolerance {
        Some(tolerance) => against_tolerance(answer, worst, tolerance),
        None if solved.reason == StopReason::Stagnated => {
            Verdict::new(CaseStatus::NotConverged, format!("stagnated; {}", found(worst)))
        }
        None => Verdict::ok(),
    }
}

/// The status of a case that was to end at a target, by the verified figure. Nothing where the figure cannot decide, or where
/// it misses the target and a tolerance may still be met.
fn against_target(answer: &Answer<'_>) -> Option<Verdict> {
    let Answer { case, solved, metrics, .. } = *answer;
    let target = case.stop_at.as_ref()?;
    let stopped_there = solved.reason == StopReason::Target;
    let not_converged = |reason: String| Verdict::new(CaseStatus::NotConverged, reason);
    let Some((limit, value)) = target.limit(metrics, None).zip(metrics.get(&target.metric)) else {
        let reason = "the target that it stopped at could not be verified";
        return stopped_there.then(|| not_converged(reason.to_owned()));
    };
    if value <= limit {
        return Some(Verdict::ok());
    }
    let (why, metric) = (stopped_short(solved.reason), &target.metric);
    let reason = format!("{why}; {metric} {}, target {}", shortest(value), shortest(limit));
    (stopped_there || case.budget.tolerance.is_none()).then(|| not_converged(reason))
}

fn against_tolerance(answer: &Answer<'_>, worst: f64, tolerance: f64) -> Verdict {
    let solved = answer.solved;
    if worst <= tolerance * WITHIN {
        return Verdict::ok();
    }
    let claim = claim(solved);
    let claims_tolerance =
        solved.reason == StopReason::Converged || claim.is_some_and(|claimed| claimed <= tolerance);
    if claims_tolerance {
        let claimed = match claim {
            Some(residual) => format!("claimed residual {}", shortest(residual)),
            None => stopped_short(StopReason::Converged).to_owned(),
        };
        let attainable = attainable::of_last(answer);
        let is_lie = is_false(worst, tolerance, attainable);
        let status = if is_lie { CaseStatus::Invalid } else { CaseStatus::NotConverged };
        let reason = format!("{claimed}, {}, tolerance {}", found(worst), shortest(tolerance));
        return Verdict::new(status, reason + &rounding(tolerance, attainable));
    }
    let why = stopped_short(solved.reason);
    Verdict::new(
        CaseStatus::NotConverged,
        format!("{why}; {}, tolerance {}", found(worst), shortest(tolerance)),
    )
}

/// The larger of the claimed residual of y and the mean of the probes' ones.
fn claim(solved: &Solved) -> Option<f64> {
    let (y, probes) = claimed_residuals(solved)?;
    Some(probes.map_or(y, |probes| y.max(probes)))
}

/// The status of weights of inducing points. They have no residual in H, so that the solver's report counts.
fn without_residuals(reason: StopReason, has_tolerance: bool) -> Verdict {
    match reason {
        StopReason::Converged => Verdict::ok(),
        StopReason::Diverged => Verdict::new(CaseStatus::Diverged, stopped_short(reason)),
        reason if has_tolerance || reason == StopReason::Stagnated => {
            Verdict::new(CaseStatus::NotConverged, stopped_short(reason))
        }
        _ => Verdict::ok(),
    }
}
