//! The status of a case, from the reports of its processes and from how they ended.
//!
//! Three questions in turn: did the solver's process report a result, did the verification succeed, and what do the
//! verified metrics say beside the solver's claim? The answer to the third depends on the task.
//!
//! A case has no status where the machine or a file was at fault. Nothing that happens before the plugin's library is
//! opened, or in a process that never opens it, is the solver's doing.

use gpbench_record::{Case, CaseStatus, Failure, Fault, FaultCause, StopReason};

use crate::executor::PHASE_SECONDS;
use crate::judge::{Answer, Verdict, explained, judge};
use crate::log::Log;
use crate::refusal::{is_inherited_limit, tells_of_refusal};
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
    /// The case's log.
    pub log: &'a Log,
    /// Whether the system may refuse memory to a process that uses little of it.
    pub memory_may_be_refused: bool,
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
/// | with a tolerance: claimed, but missed by more than a factor of 2 and than rounding leaves | `invalid` |
/// | with a tolerance: anything else | `not_converged` |
/// | with a tolerance and inducing points, which have no residual: the solver does not claim it | `not_converged` |
/// | to end at a target: the verified figure reaches it | `ok` |
/// | to end at a target, and no tolerance or it stopped there: the figure misses it | `not_converged` |
/// | without: the residual no longer fell | `not_converged` |
/// | without: anything else | `ok` |
///
/// Estimates of the likelihood have no tolerance: they are `ok` if they are finite.
///
/// A learner is held to its model: `diverged` if the model or the learner's predictions are not finite, `invalid` if the
/// learner predicts otherwise, `not_converged` if the time was up before its passes were, else `ok`. One that declines to
/// predict is held to its model alone.
///
/// A training case has the status of its final prediction, or that of its steps if it is worse: each step is compared
/// with the tolerance in the same way. It is `diverged` if it could not take a step, as where a matrix is singular.
///
/// If a process crashes after its report, the report counts and the reason mentions the crash. The reason of a divergence names
/// the iteration, the first column that is not finite, the parameter to lower and the log. The reason of training that is `ok` is a warning where its optimum is
/// doubtful.
///
/// # Errors
/// The fault of the machine or of a file that the case has no status for:
///
/// | what happened | cause |
/// |---|---|
/// | a worker reported a fault | the one it reported |
/// | a worker did not start | worker, or resources where the system refused it |
/// | no report before the plugin's library was opened, other than by a limit | the same |
/// | verification ended without a report | the same |
/// | ended by a signal that people and systems end processes with, and gpbench did not send | worker |
/// | a crash, and the log or the reason tells that the system refused a process, a descriptor or memory | resources |
///
/// A solve on a machine that stood still is a fault of its own, before its status is asked for.
///
/// [`Fault::plugin_ran`] says whether the plugin may have caused the fault, or forged the report of it.
pub fn classify(evidence: &Evidence<'_>) -> Result<Verdict, Fault> {
    let verdict = decide(evidence)?;
    if verdict.status != CaseStatus::Diverged {
        return Ok(verdict);
    }
    let Evidence { case, solving, verifying, log, .. } = *evidence;
    let bad_column = verifying.and_then(|outcome| outcome.verified()?.bad_column);
    let reason = explained(&verdict.reason, case, solving, bad_column, log.path.as_deref());
    Ok(Verdict { reason, ..verdict })
}

fn decide(evidence: &Evidence<'_>) -> Result<Verdict, Fault> {
    let Evidence { case, solving, verifying, log, .. } = *evidence;
    let plugin_ran = solving.plugin_may_have_run();
    if let Some(fault) = solving.fault() {
        return Err(Fault { plugin_ran, ..fault.clone() });
    }
    if let Some(failure) = solving.failure() {
        let status = reported(failure);
        if status.status == CaseStatus::Crashed && tells_of_refusal(&status.reason) {
            return Err(Fault { cause: FaultCause::Resources, reason: status.reason, plugin_ran });
        }
        return Ok(status);
    }
    let Some(solved) = solving.solved() else {
        return unreported(evidence);
    };
    let steps = solving.steps();
    let mut status = match verifying.map(|outcome| (outcome, outcome.verified())) {
        Some((_, Some(verified))) => {
            let answer = Answer { case, solved, steps: &steps, metrics: &verified.metrics };
            judge(&answer)
        }
        Some((outcome, None)) => unverified(outcome, log)?,
        None => return Err(worker_fault("the solution was not verified".into(), log)),
    };
    let mut reasons = steps.iter().map(|step| step.reason).chain([solved.reason]);
    status.reproducible = reasons.all(|reason| reason != StopReason::Time);
    if let Some(death) = death_after_report(&solving.end) {
        status.add(&death);
    }
    Ok(status)
}

/// The status that a worker reported. A success that is reported as a failure is an error of the worker.
fn reported(failure: &Failure) -> Verdict {
    let status = if failure.status.is_failure() { failure.status } else { CaseStatus::Crashed };
    Verdict::new(status, failure.reason.clone())
}

/// The status of a case whose worker ended without a report.
fn unreported(evidence: &Evidence<'_>) -> Result<Verdict, Fault> {
    let Evidence { solving, log, .. } = *evidence;
    let end = &solving.end;
    // This limit is not the user's, and says nothing about the solver.
    let is_stuck = *end == End::TimedOut { limit: PHASE_SECONDS } && !solving.plugin_may_have_run();
    if let Some(status) = over_limit(end).filter(|_| !is_stuck) {
        return Ok(status);
    }
    if !solving.plugin_may_have_run() {
        let reason = format!("the worker {}", words(end));
        let reason = match end {
            End::NotStarted { .. } => reason,
            _ => format!("{reason} before it opened the plugin's library"),
        };
        return Err(worker_fault(reason, log));
    }
    let caused = |cause, reason| Err(Fault { cause, reason, plugin_ran: true });
    let failed = |status, reason: String| Ok(Verdict::new(status, reason));
    match end {
        End::Signalled { signal, .. } if log.allocation_failed && !text::ends_processes(*signal) => {
            let reason = format!("an allocation failed; ended by {}", text::signal(*signal));
            match evidence.memory_may_be_refused {
                true => caused(FaultCause::Resources, reason),
                false => failed(CaseStatus::OutOfMemory, reason),
            }
        }
        End::Signalled { signal, memory_pressure: true } => failed(
            CaseStatus::OutOfMemory,
            format!("ended by {} with memory nearly full", text::signal(*signal)),
        ),
        End::Exited(_) | End::Signalled { .. } if log.tells_of_refusal => {
            caused(FaultCause::Resources, format!("{}; the log tells what the system refused", words(end)))
        }
        End::Signalled { signal, .. } if log.stack_overflowed && !text::ends_processes(*signal) => {
            failed(CaseStatus::Crashed, format!("stack overflow; ended by {}", text::signal(*signal)))
        }
        End::Signalled { signal, .. } if text::ends_processes(*signal) => caused(
            FaultCause::Worker,
            format!("ended by {}, which gpbench did not send", text::signal(*signal)),
        ),
        End::Signalled { signal, .. } if is_inherited_limit(*signal) => {
            let reason = format!("{}, a limit that gpbench was started with", words(end));
            Err(Fault { cause: FaultCause::Resources, reason, plugin_ran: false })
        }
        End::Garbled { sample } => {
            failed(CaseStatus::Invalid, format!("wrote `{sample}` where only the worker reports; killed"))
        }
        End::Exited(_) => failed(CaseStatus::Crashed, format!("{} before reporting a result", words(end))),
        _ => failed(CaseStatus::Crashed, words(end)),
    }
}

/// The status of a case that reached a limit. A limit is the user's, whatever reached it.
fn over_limit(end: &End) -> Option<Verdict> {
    let (status, reason) = match end {
        End::TimedOut { limit } => {
            let default = if *limit == PHASE_SECONDS {
                ", the limit of a case without `budget.time`; set that or `--kill-after` to more"
            } else {
                ""
            };
            (CaseStatus::Timeout, format!("killed: no result within {} s{default}", shortest(*limit)))
        }
        End::CpuSpent { limit } => (
            CaseStatus::Timeout,
            format!("killed: used {} s of processor time without a result", shortest(*limit)),
        ),
        End::OutOfMemory { bytes, limit } => (
            CaseStatus::OutOfMemory,
            format!("killed: {} in use, {} allowed", text::bytes(*bytes), text::bytes(*limit)),
        ),
        _ => return None,
    };
    Some(Verdict { reproducible: status != CaseStatus::Timeout, ..Verdict::new(status, reason) })
}

/// An end without a report, as the end of a sentence.
fn words(end: &End) -> String {
    match end {
        End::Exited(status) => format!("exited with status {status}"),
        End::Signalled { signal, .. } => format!("ended by {}", text::signal(*signal)),
        End::Garbled { sample } => format!("wrote `{sample}`, which is no report, and was killed"),
        End::Lingered => "closed its output without a result but did not end; killed".into(),
        End::NotStarted { reason } => format!("did not start: {reason}"),
        End::Interrupted => "interrupted".into(),
        End::TimedOut { limit } => format!("was killed after {} s", shortest(*limit)),
        End::CpuSpent { .. } | End::OutOfMemory { .. } => "killed by a limit".into(),
    }
}

/// The fault of a worker that ended although no code of a plugin ran in it.
pub(crate) fn worker_fault(reason: String, log: &Log) -> Fault {
    let refused = tells_of_refusal(&reason) || log.tells_of_refusal || log.allocation_failed;
    let cause = if refused { FaultCause::Resources } else { FaultCause::Worker };
    let last = log.tail.lines().last().unwrap_or_default();
    let reason = if last.is_empty() { reason } else { format!("{reason} ({last})") };
    Fault { cause, reason, plugin_ran: false }
}

/// Why a worker that never opens a plugin's library gave no answer, if it reported no failure.
pub(crate) fn unanswered(outcome: &Outcome, log: &Log) -> Fault {
    match outcome.fault() {
        Some(fault) => Fault { plugin_ran: false, ..fault.clone() },
        None => worker_fault(format!("the worker {} without an answer", words(&outcome.end)), log),
    }
}

/// The status of a solution that was not verified, where that is not a fault.
fn unverified(outcome: &Outcome, log: &Log) -> Result<Verdict, Fault> {
    if let Some(failure) = outcome.failure() {
        let status = reported(failure);
        return Ok(Verdict { reason: format!("verification: {}", status.reason), ..status });
    }
    let fault = unanswered(outcome, log);
    // The process that wrote the solution ran code of the plugin.
    let plugin_ran = fault.cause == FaultCause::Solution;
    Err(Fault { reason: format!("verification: {}", fault.reason), plugin_ran, ..fault })
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
