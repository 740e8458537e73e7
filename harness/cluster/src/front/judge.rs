//! The consequences of the end of an attempt: the table of states where cases have no row.

use gpbench_record::{CaseStatus, Ending};
use jiff::Timestamp;

use crate::front::known::{Known, seconds_between};
use crate::front::policy::Policy;
use crate::ledger::{Cause, Withdrawal};
use crate::scheduler::TaskState;

/// Why Slurm holds a task that it could not start.
const LAUNCH_FAILED: &str = "launch failed requeued held";

/// The consequences of the end of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) cause: Cause,
    /// The reports of the scheduler and of the runner.
    pub(crate) reason: String,
    /// The row of the case that was running, where the end was its doing: its status and reason.
    pub(crate) row: Option<(CaseStatus, String)>,
}

/// Whether an attempt that leaves cases without rows is over. A runner that says so has ended as soon as the scheduler says
/// how; that of a silent one, and one that the scheduler calls completing, has to be shown twice.
pub(crate) fn is_over(known: &Known, policy: &Policy, now: Timestamp) -> bool {
    let Some(_) = known.queue.gone else { return false };
    let state = known.state();
    let never_ran = known.told.begun.is_none()
        && state == Some(&TaskState::Cancelled)
        && known.queue.seen.as_ref().is_some_and(|task| task.node.is_empty());
    // Whether it was cancelled, preempted or ended by itself is said only after that.
    let has_said_so = known.told.ending.is_some() && state != Some(&TaskState::Completing);
    let is_silent = seconds_between(known.told.heard, now) >= policy.silent_seconds;
    has_said_so || never_ran || known.queue.confirmed && is_silent
}

/// Why an attempt that is not over has to be cancelled.
pub(crate) fn withdrawal(known: &Known, policy: &Policy, now: Timestamp) -> Option<Withdrawal> {
    if known.queue.gone.is_some() {
        return None;
    }
    let task = known.queue.seen.as_ref()?;
    match task.state {
        TaskState::Pending if task.reason == LAUNCH_FAILED => Some(Withdrawal::Held),
        TaskState::Pending if known.told.begun.is_some() => Some(Withdrawal::Requeued),
        TaskState::Requeued => Some(Withdrawal::Requeued),
        TaskState::Running => {
            let since = known.queue.running.map_or(now, |running| running.max(known.told.heard));
            (seconds_between(since, now) >= policy.stuck_seconds).then_some(Withdrawal::Silent)
        }
        _ => None,
    }
}

/// Judges the end of an attempt. `kills`: how often its running case was killed before.
pub(crate) fn judge(known: &Known, kills: u32, policy: &Policy) -> Verdict {
    let told = &known.told;
    let verdict = |cause, row| Verdict { cause, reason: said(known), row };
    match (known.withdrawal, known.state(), &told.ending) {
        (Some(Withdrawal::User | Withdrawal::Unneeded), ..) => verdict(Cause::Ours, None),
        (Some(Withdrawal::Requeued), ..) => verdict(Cause::Preempted, None),
        (Some(Withdrawal::Held), ..) | (Some(Withdrawal::Silent), _, None) => verdict(Cause::Machine, None),
        (_, Some(TaskState::Preempted | TaskState::Requeued), _) => verdict(Cause::Preempted, None),
        (None, Some(TaskState::Cancelled), _) => verdict(Cause::Withdrawn, None),
        (_, Some(TaskState::OutOfMemory), None) if told.running.is_some() => {
            let reason = format!("Slurm ended it: {} allowed", memory(known.request.memory_bytes));
            verdict(Cause::Case, Some((CaseStatus::OutOfMemory, reason)))
        }
        (_, _, Some(Ending::Done | Ending::Signal { .. })) | (_, Some(TaskState::Completed), None) => {
            verdict(Cause::Interrupted, None)
        }
        (_, _, Some(Ending::Unfit { .. } | Ending::Failed { .. })) => verdict(Cause::Machine, None),
        (_, _, Some(Ending::TimeOver)) | (_, Some(TaskState::TimedOut), None) => {
            match has_had_its_time(known, policy) {
                true => {
                    let reason = format!("no result within the job's {}", time(known.request.seconds));
                    verdict(Cause::Case, Some((CaseStatus::Timeout, reason)))
                }
                false => verdict(Cause::Interrupted, None),
            }
        }
        (_, Some(TaskState::Failed), None) if told.running.is_some() && was_killed(known) => {
            let reason = || (CaseStatus::Crashed, format!("killed {} (signal 9)", times(policy.kills)));
            verdict(Cause::Killed, (kills + 1 >= policy.kills).then(reason))
        }
        _ => verdict(Cause::Machine, None),
    }
}

/// Whether the running case began its attempt, had all of its time, and came no further.
fn has_had_its_time(known: &Known, policy: &Policy) -> bool {
    let told = &known.told;
    let Some((running, started)) = &told.running else { return false };
    let is_first = told.first.as_ref() == Some(running);
    let (had, asked) = (seconds_between(*started, told.last), known.request.seconds as f64);
    // The slack is at most half of the time that was requested.
    is_first && !told.advanced && had + policy.slack_seconds.min(asked / 2.0) >= asked
}

/// Whether signal 9 ended the script, or the program that it became.
fn was_killed(known: &Known) -> bool {
    let exit = known.queue.seen.as_ref().map(|task| task.exit).unwrap_or_default();
    exit.signal == 9 || exit.status == 128 + 9
}

/// The reports of the scheduler and of the runner about the end.
fn said(known: &Known) -> String {
    let queue = match &known.queue.seen {
        None => "unknown to Slurm".to_owned(),
        Some(task) if !task.state.is_over() => format!("unknown to Slurm, which last said {}", task.state),
        Some(task) => {
            let exit = match (task.exit.status, task.exit.signal) {
                (0, 0) => String::new(),
                _ => format!(" {}", task.exit),
            };
            let reason = if matches!(task.reason.as_str(), "" | "None") { "" } else { task.reason.as_str() };
            format!("{} {reason}{exit}", task.state).replace("  ", " ").trim().to_owned()
        }
    };
    let queue = match known.withdrawal {
        Some(Withdrawal::Silent) => format!("running without a sign of life; {queue}"),
        Some(Withdrawal::Held) => format!("{LAUNCH_FAILED}; {queue}"),
        _ => queue,
    };
    match &known.told.ending {
        Some(Ending::Unfit { reason }) => format!("the node is unfit: {reason}"),
        Some(Ending::Failed { reason }) => format!("the runner failed: {reason}"),
        Some(Ending::TimeOver) => format!("the job's time was over; {queue}"),
        Some(Ending::Signal { signal }) => format!("ended by signal {signal}; {queue}"),
        Some(Ending::Done) => format!("a fault of the machine left cases without rows; {queue}"),
        None => queue,
    }
}

fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        3 => "three times".to_owned(),
        count => format!("{count} times"),
    }
}

/// Seconds in the largest unit that fits: `4 h`, `90 min`, `45 s`.
fn time(seconds: u64) -> String {
    match seconds {
        s if s >= 3600 && s.is_multiple_of(3600) => format!("{} h", s / 3600),
        s if s >= 60 => format!("{} min", s.div_ceil(60)),
        s => format!("{s} s"),
    }
}

/// Bytes in the largest unit that fits: `32 GiB`, `1.5 GiB`, `512 MiB`.
fn memory(bytes: u64) -> String {
    const GIB: u64 = 1 << 30;
    match bytes {
        b if b >= GIB && b.is_multiple_of(GIB) => format!("{} GiB", b / GIB),
        b if b >= GIB => format!("{:.1} GiB", b as f64 / GIB as f64),
        b => format!("{} MiB", b >> 20),
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::PartLine;

    use super::*;
    use crate::limits::ResourceRequest;

    /// Whether a case that began its attempt and ran for so many seconds, of so many that were asked for, had all of its time.
    fn had_its_time(ran: u32, asked: u64) -> bool {
        let start = Timestamp::UNIX_EPOCH;
        let request = ResourceRequest { seconds: asked, memory_bytes: 1, threads: 1 };
        let mut known = Known::new(1, 0, request, start);
        let later = start + jiff::SignedDuration::from_secs(i64::from(ran));
        known.told.hear(&PartLine::Started { time: start.to_string(), id: "a".into() }, start);
        known.told.hear(&PartLine::Beat { time: later.to_string(), advanced: false }, later);
        has_had_its_time(&known, &Policy::default())
    }

    #[test]
    fn the_slack_is_no_more_than_half_of_the_time() {
        assert!(had_its_time(4 * 3600 - 200, 4 * 3600) && had_its_time(160, 300));
        // Somebody has shortened the job's time.
        assert!(!had_its_time(3600, 4 * 3600) && !had_its_time(23, 300));
    }
}
