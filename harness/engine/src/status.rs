//! What became of a case: the one place that decides.
//!
//! Three questions in turn: did the solver's process report a result, did the
//! verification compute the truth, and what does the truth say beside the claim?

mod steps;

use gpbench_record::{Case, Failure, Message, Metrics, Solved, Status, StopReason, Task, Verified, names};

use crate::executor::{End, Outcome};
use crate::text;

/// A true residual this much over the tolerance is still within it: the residual
/// that a solver updates drifts from the true one by rounding.
const WITHIN: f64 = 1.01;
/// A claim that the truth misses by more than this factor is false.
const FALSE_CLAIM: f64 = 2.0;
/// Relative residuals beyond this have left the problem: zero weights have residual 1.
const DIVERGED: f64 = 1e3;

/// All that is known of a case when its processes have ended.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// What was asked.
    pub case: &'a Case,
    /// What came of solving.
    pub solving: &'a Outcome,
    /// What came of verifying; absent if there was nothing to verify.
    pub verifying: Option<&'a Outcome>,
    /// The end of the case's log.
    pub log_tail: &'a str,
}

/// How a case counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The status of its row.
    pub status: Status,
    /// One sentence; empty where `ok` needs none.
    pub reason: String,
    /// False if a clock decided where the solver stopped.
    pub reproducible: bool,
}

impl Verdict {
    fn new(status: Status, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into(), reproducible: true }
    }
}

/// Decides how a case counts.
///
/// | what happened | status |
/// |---|---|
/// | the worker reported a failure | the one it reported |
/// | no report, killed by a limit | `timeout`, `out_of_memory` |
/// | no report, killed for its output | `invalid` |
/// | no report, ended in any other way | `crashed`, or `out_of_memory` if an allocation failed |
/// | the solver reports divergence, or a true residual is not finite or above 1000 | `diverged` |
/// | with a tolerance: true residuals of y and of the probes' mean at most 1.01 times it | `ok` |
/// | with a tolerance: claimed, but missed by more than a factor of 2 | `invalid` |
/// | with a tolerance: anything else | `not_converged` |
/// | with a tolerance and inducing points, which have no residual: the solver does not claim it | `not_converged` |
/// | without: the residual no longer fell | `not_converged` |
/// | without: anything else | `ok` |
///
/// Estimates of the likelihood have no tolerance to keep: they are `ok` where they are finite.
///
/// A case that trains is what its final prediction is, or what its steps are where that is worse: each
/// is held to the tolerance in the same way.
///
/// A process that dies after its report has lost nothing: the report counts, and
/// the reason mentions the death.
pub fn judge(evidence: &Evidence) -> Verdict {
    let Evidence { case, solving, verifying, log_tail } = *evidence;
    if let Some(failure) = failure(solving) {
        return reported(failure);
    }
    let Some(solved) = solved(solving) else {
        return unreported(&solving.end, log_tail);
    };
    let mut verdict = match verifying.map(|outcome| (outcome, verified(outcome))) {
        Some((_, Some(truth))) => compare(case, solved, &truth.metrics),
        Some((outcome, None)) => unverified(outcome, log_tail),
        None => Verdict::new(Status::Crashed, "the solution was not verified"),
    };
    let steps = steps::reported(solving);
    if verdict.status.is_answer()
        && let Some(worse) = steps::verdict(case, &steps)
    {
        verdict = worse;
    }
    let reasons = steps.iter().map(|step| step.reason).chain([solved.reason]);
    verdict.reproducible = reasons.into_iter().all(|reason| reason != StopReason::Time);
    if let Some(death) = death_after_report(&solving.end) {
        let separator = if verdict.reason.is_empty() { "" } else { "; " };
        verdict.reason = format!("{}{separator}{death}", verdict.reason);
    }
    verdict
}

/// The worker's own account of a failure, if it gave one.
pub(crate) fn failure(outcome: &Outcome) -> Option<&Failure> {
    outcome.messages.iter().find_map(|message| match message {
        Message::Failed(failure) => Some(failure),
        _ => None,
    })
}

/// What `case` measured, if it got so far.
pub(crate) fn solved(outcome: &Outcome) -> Option<&Solved> {
    outcome.messages.iter().find_map(|message| match message {
        Message::Solved(solved) => Some(solved),
        _ => None,
    })
}

/// What `verify` computed, if it got so far.
pub(crate) fn verified(outcome: &Outcome) -> Option<&Verified> {
    outcome.messages.iter().find_map(|message| match message {
        Message::Verified(verified) => Some(verified),
        _ => None,
    })
}

fn reported(failure: &Failure) -> Verdict {
    // A worker that calls its failure a success is not believed.
    let status = if failure.status.is_failure() { failure.status } else { Status::Crashed };
    Verdict::new(status, failure.reason.clone())
}

fn unreported(end: &End, log_tail: &str) -> Verdict {
    let (status, reason) = match end {
        End::Exited(status) => {
            (Status::Crashed, format!("exited with status {status} before reporting a result"))
        }
        End::Signalled { signal, .. } if allocation_failed(log_tail) => {
            (Status::OutOfMemory, format!("an allocation failed; ended by {}", text::signal(*signal)))
        }
        End::Signalled { signal, memory_pressure: true } => {
            (Status::OutOfMemory, format!("ended by {} with memory nearly full", text::signal(*signal)))
        }
        End::Signalled { signal, .. } if log_tail.contains("overflowed its stack") => {
            (Status::Crashed, format!("stack overflow; ended by {}", text::signal(*signal)))
        }
        End::Signalled { signal, .. } => (Status::Crashed, format!("ended by {}", text::signal(*signal))),
        End::TimedOut { limit } => {
            (Status::Timeout, format!("killed: no result within {} s", shortest(*limit)))
        }
        End::CpuSpent { limit } => (
            Status::Timeout,
            format!("killed: used {} s of processor time without a result", shortest(*limit)),
        ),
        End::OutOfMemory { bytes, limit } => (
            Status::OutOfMemory,
            format!("killed: {} in use, {} allowed", text::bytes(*bytes), text::bytes(*limit)),
        ),
        End::Garbled { sample } => {
            (Status::Invalid, format!("wrote `{sample}` where only the worker reports; killed"))
        }
        End::Lingered => (Status::Crashed, "closed its output without a result and went on; killed".into()),
        End::Interrupted => (Status::Crashed, "interrupted".into()),
        End::NotStarted { reason } => (Status::Crashed, format!("the worker did not start: {reason}")),
    };
    Verdict { reproducible: status != Status::Timeout, ..Verdict::new(status, reason) }
}

/// Whether the runtime of Rust or C++ gave up for want of memory.
fn allocation_failed(log_tail: &str) -> bool {
    log_tail.contains("memory allocation of") || log_tail.contains("std::bad_alloc")
}

fn unverified(outcome: &Outcome, log_tail: &str) -> Verdict {
    let verdict = match failure(outcome) {
        Some(failure) => reported(failure),
        None => unreported(&outcome.end, log_tail),
    };
    Verdict { reason: format!("verification: {}", verdict.reason), ..verdict }
}

fn death_after_report(end: &End) -> Option<String> {
    match end {
        End::Exited(0) => None,
        End::Exited(status) => Some(format!("exited with status {status} after reporting")),
        End::Signalled { signal, .. } => Some(format!("ended by {} after reporting", text::signal(*signal))),
        End::Lingered => Some("did not end after reporting and was killed".into()),
        _ => None,
    }
}

/// The truth beside the claim.
fn compare(case: &Case, solved: &Solved, truth: &Metrics) -> Verdict {
    if case.task == Task::Likelihood {
        return match truth.get(names::QUADRATIC).and(truth.get(names::GRADIENT_BIAS)) {
            Some(_) => Verdict::new(Status::Ok, ""),
            None => Verdict::new(Status::Diverged, "an estimate is not finite"),
        };
    }
    let y = truth.get(names::RESIDUAL_Y);
    let probes = truth.get(names::RESIDUAL_PROBES);
    // Metrics leave out what is not finite: a missing residual is one that overflowed,
    // unless nothing about the solution is a residual.
    let measured = y.is_some() || truth.get(names::TEST_RMSE).is_some();
    if !measured || (y.is_some() && probes.is_none() && case.estimator.probes > 0) {
        return Verdict::new(Status::Diverged, "the solution is not finite");
    }
    if case.solver.inducing.is_some() {
        return without_residuals(case, solved);
    }
    let worst = y.into_iter().chain(probes).fold(0.0, f64::max);
    if solved.reason == StopReason::Diverged {
        return Verdict::new(Status::Diverged, format!("the solver reports divergence; {}", found(worst)));
    }
    if worst > DIVERGED {
        return Verdict::new(Status::Diverged, found(worst));
    }
    match case.budget.tolerance {
        Some(tolerance) => against_tolerance(solved, worst, tolerance),
        None if solved.reason == StopReason::Stagnated => {
            Verdict::new(Status::NotConverged, format!("stagnated; {}", found(worst)))
        }
        None => Verdict::new(Status::Ok, ""),
    }
}

fn against_tolerance(solved: &Solved, worst: f64, tolerance: f64) -> Verdict {
    if worst <= tolerance * WITHIN {
        return Verdict::new(Status::Ok, "");
    }
    let claim = claim(solved);
    let claims_tolerance =
        solved.reason == StopReason::Converged || claim.is_some_and(|claimed| claimed <= tolerance);
    if claims_tolerance {
        let claimed = match claim {
            Some(residual) => format!("claimed residual {}", shortest(residual)),
            None => "claims to have converged".to_owned(),
        };
        let status = if worst > tolerance * FALSE_CLAIM { Status::Invalid } else { Status::NotConverged };
        let reason = format!("{claimed}, {}, tolerance {}", found(worst), shortest(tolerance));
        return Verdict::new(status, reason);
    }
    let why = stopped_short(solved.reason);
    Verdict::new(Status::NotConverged, format!("{why}; {}, tolerance {}", found(worst), shortest(tolerance)))
}

/// Weights of inducing points have no residual in H: whether they are good enough is the solver's word.
fn without_residuals(case: &Case, solved: &Solved) -> Verdict {
    match solved.reason {
        StopReason::Diverged => Verdict::new(Status::Diverged, "the solver reports divergence"),
        StopReason::Converged => Verdict::new(Status::Ok, ""),
        reason if case.budget.tolerance.is_some() || reason == StopReason::Stagnated => {
            Verdict::new(Status::NotConverged, stopped_short(reason))
        }
        _ => Verdict::new(Status::Ok, ""),
    }
}

/// Why a solver stopped before it was done.
fn stopped_short(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Stagnated => "stagnated",
        StopReason::Iterations => "the solver's iterations are spent",
        StopReason::Epochs => "the epoch budget is spent",
        StopReason::Time => "the time budget is spent",
        StopReason::Converged | StopReason::Diverged => unreachable!("handled before"),
    }
}

/// The larger of the claimed residual of y and the mean of the probes' ones.
fn claim(solved: &Solved) -> Option<f64> {
    let (y, probes) = claimed(solved)?;
    Some(probes.map_or(y, |probes| y.max(probes)))
}

/// Claimed residual norms of y and, as their mean, of the probes.
pub(crate) fn claimed(solved: &Solved) -> Option<(f64, Option<f64>)> {
    let (y, probes) = solved.claimed.split_first()?;
    let mean = (!probes.is_empty()).then(|| probes.iter().sum::<f64>() / probes.len() as f64);
    Some((*y, mean))
}

fn found(residual: f64) -> String {
    format!("true residual {}", shortest(residual))
}

/// Three significant digits, without noise.
fn shortest(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    if rounded != 0.0 && !(1e-3..1e6).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        format!("{rounded}")
    }
}

#[cfg(test)]
mod tests;
