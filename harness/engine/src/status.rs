//! The status of a case, decided from what its processes reported and how they ended.
//!
//! Three questions in turn: did the solver's process report a result, did the verification succeed, and what do the
//! verified metrics say beside the solver's claim? The answer to the third depends on the task.

use gpbench_record::{Case, Failure, Status, StopReason};

use crate::tasks::{Answer, CaseStatus, rules};
use crate::text::{self, shortest};
use crate::{End, Outcome};

/// All that is known of a case when its processes have ended.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The case.
    pub case: &'a Case,
    /// The outcome of solving.
    pub solving: &'a Outcome,
    /// The outcome of verifying; absent if there was nothing to verify.
    pub verifying: Option<&'a Outcome>,
    /// The end of the case's log.
    pub log_tail: &'a str,
}

/// Decides the status of a case.
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
/// Estimates of the likelihood have no tolerance: they are `ok` if they are finite.
///
/// A training case has the status of its final prediction, or that of its steps if it is worse: each step is compared
/// with the tolerance in the same way.
///
/// If a process crashes after its report, the report counts and the reason mentions the crash.
pub fn classify(evidence: &Evidence<'_>) -> CaseStatus {
    let Evidence { case, solving, verifying, log_tail } = *evidence;
    if let Some(failure) = solving.failure() {
        return reported(failure);
    }
    let Some(solved) = solving.solved() else {
        return unreported(&solving.end, log_tail);
    };
    let steps = solving.steps();
    let mut status = match verifying.map(|outcome| (outcome, outcome.verified())) {
        Some((_, Some(verified))) => {
            let answer = Answer { case, solved, steps: &steps, metrics: &verified.metrics };
            (rules(case.task.kind()).status)(&answer)
        }
        Some((outcome, None)) => unverified(outcome, log_tail),
        None => CaseStatus::new(Status::Crashed, "the solution was not verified"),
    };
    let mut reasons = steps.iter().map(|step| step.reason).chain([solved.reason]);
    status.reproducible = reasons.all(|reason| reason != StopReason::Time);
    if let Some(death) = death_after_report(&solving.end) {
        let separator = if status.reason.is_empty() { "" } else { "; " };
        status.reason = format!("{}{separator}{death}", status.reason);
    }
    status
}

/// The status that a worker reported. A success that is reported as a failure is an error of the worker.
fn reported(failure: &Failure) -> CaseStatus {
    let status = if failure.status.is_failure() { failure.status } else { Status::Crashed };
    CaseStatus::new(status, failure.reason.clone())
}

fn unreported(end: &End, log_tail: &str) -> CaseStatus {
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
        End::Lingered => {
            (Status::Crashed, "closed its output without a result but did not end; killed".into())
        }
        End::Interrupted => (Status::Crashed, "interrupted".into()),
        End::NotStarted { reason } => (Status::Crashed, format!("the worker did not start: {reason}")),
    };
    CaseStatus { reproducible: status != Status::Timeout, ..CaseStatus::new(status, reason) }
}

/// Whether the runtime of Rust or C++ reports that an allocation failed.
fn allocation_failed(log_tail: &str) -> bool {
    log_tail.contains("memory allocation of") || log_tail.contains("std::bad_alloc")
}

fn unverified(outcome: &Outcome, log_tail: &str) -> CaseStatus {
    let status = match outcome.failure() {
        Some(failure) => reported(failure),
        None => unreported(&outcome.end, log_tail),
    };
    CaseStatus { reason: format!("verification: {}", status.reason), ..status }
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

#[cfg(test)]
mod tests;
