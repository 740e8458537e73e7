//! A machine that stood still while a case was solved: a suspended job, a frozen container, stopped processes.
//!
//! What a time limit decided then is not the solver's doing, and its times are not its own: the case is tried again. Where no time limit
//! decided and the times are hardly longer, the result counts.

use gpbench_record::{CaseStatus, Fault, FaultCause, Solved, StopReason};

use crate::Outcome;
use crate::text::shortest;

/// Tries of a case on a machine that stood still after which its times count with a remark, if no time limit decided its result.
const MOST_TRIES: u8 = 2;

/// Part of a standstill that a worker's own clock shows at least if the worker stood still too.
const MEASURED: f64 = 0.9;

/// Share of a case's time up to which a standstill counts with a remark too: its times are as good as those of other cases, and another
/// try takes them all again.
const SMALL_SHARE: f64 = 0.01;

/// What is to be done with a case whose machine stood still.
pub(crate) enum Standstill {
    /// It is tried again.
    Fault(Fault),
    /// Its result counts, with this remark.
    Remark(String),
}

/// What a standstill means for a solve that has ended, after `earlier` tries with one; none where it has no effect: the worker
/// was killed for another reason, or ran on by itself.
pub(crate) fn standstill(solving: &Outcome, earlier: u8) -> Option<Standstill> {
    let seconds = solving.stood_still?;
    let is_of_time = match solving.solved() {
        Some(solved) if measured(solved) < MEASURED * seconds => return None,
        Some(solved) => {
            let mut reasons = solving.steps().into_iter().map(|step| step.reason).chain([solved.reason]);
            reasons.any(|reason| reason == StopReason::Time)
        }
        None => solving.failure().filter(|failure| failure.status == CaseStatus::Timeout).map(|_| true)?,
    };
    let is_small = solving.solved().is_some_and(|solved| seconds <= SMALL_SHARE * measured(solved));
    let text = format!("the machine stood still for {} s while it was solved", shortest(seconds.round()));
    if is_of_time || (!is_small && earlier < MOST_TRIES) {
        return Some(Standstill::Fault(Fault {
            cause: FaultCause::Standstill,
            reason: text,
            plugin_ran: false,
        }));
    }
    Some(Standstill::Remark(format!("{text}, which its times include")))
}

/// Seconds that the worker measured.
fn measured(solved: &Solved) -> f64 {
    solved.startup_seconds + solved.build_seconds + solved.prepare.wall + solved.solve.wall
}
