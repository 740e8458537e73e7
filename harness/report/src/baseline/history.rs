//! Seconds against those of earlier sessions.
//!
//! All times of a session share its effect, so no number of repeats tells a slower solver from a slower session. With
//! [`SESSIONS`] sessions on one machine, the spread over sessions is known, and a solver is slower where it exceeds
//! their mean by more than [`session_limit`]. With fewer, times are compared with the newest ones, with a wider
//! tolerance.

use std::collections::BTreeSet;

use gpbench_record::{counted, names};
use gpbench_statistics::gate::{GROSS_FACTOR, SESSIONS, session_limit};
use gpbench_statistics::sample_variance;

use super::cases::CaseKey;
use super::check::{Check, CheckOutcome};
use super::file::BaselineTolerance;
use super::groups::Group;
use super::load::Load;
use super::seconds::{self, Verdict};
use super::session::BaselineSession;
use super::timed::{Timed, median};
use crate::error::Result;
use crate::frame::{Cases, Frame};
use crate::number::percent;
use crate::run::Run;

/// Largest number of sessions of one machine that a history keeps.
const MOST_SESSIONS: usize = 20;

/// The earlier sessions, and how far seconds may exceed theirs.
#[derive(Debug)]
pub(super) struct Earlier<'s> {
    /// The sessions, oldest first.
    pub(super) sessions: Vec<&'s BaselineSession>,
    /// Whether a history is kept, rather than one session with a baseline.
    pub(super) is_history: bool,
    /// Tolerance against one session.
    pub(super) of_session: BaselineTolerance,
    /// Least tolerance against the mean of several.
    pub(super) of_history: BaselineTolerance,
}

/// Adds the changes of the times of `new` against those of earlier sessions, and what is undecided about them. `noun`
/// names what is compared.
pub(super) fn compare(check: &mut Check, new: &Timed, earlier: &Earlier<'_>, noun: &str) {
    let sessions = &earlier.sessions[..];
    let is_here = |session: &&BaselineSession| {
        let machine = new.machine.as_ref();
        machine.is_some_and(|machine| machine.difference(&session.machine).is_none())
            && session.load().is_none()
    };
    let here: Vec<&BaselineSession> = sessions.iter().copied().filter(is_here).collect();
    let done = by_limit(check, new, &here, earlier.of_history, noun);
    let mut rest = new.clone();
    rest.cases.retain(|key, _| !done.contains(&key.of_all_seeds()));
    // Of sessions elsewhere, the last one tells the difference.
    let last = sessions.len().saturating_sub(1);
    let old = if here.is_empty() { &sessions[last..] } else { &here[..] };
    let Some(old) = Timed::of_sessions(old) else { return };
    if earlier.is_history && (1..SESSIONS).contains(&here.len()) {
        check.remarks.push(format!(
            "the history has {} of the {SESSIONS} sessions on this machine from which a limit follows: seconds are \
             compared with the newest",
            here.len()
        ));
    }
    seconds::compare(check, &rest, &old, earlier.of_session, noun);
}

/// Compares the groups of which enough sessions are known. Returns their keys.
fn by_limit(
    check: &mut Check,
    new: &Timed,
    sessions: &[&BaselineSession],
    tolerance: BaselineTolerance,
    noun: &str,
) -> BTreeSet<CaseKey> {
    let groups = Timed::of_sessions(sessions).map(|old| Group::of(new, &old)).unwrap_or_default();
    let all = groups.len();
    let known = groups.into_iter().map(|group| (log_means(sessions, &group.cases), group));
    let (logs, groups): (Vec<Vec<f64>>, Vec<Group>) =
        known.filter(|(logs, _)| logs.len() >= SESSIONS).unzip();
    let Some(limit) = session_limit(&logs) else { return BTreeSet::new() };
    let ratio = limit.exp().max(1.0 + tolerance.relative);
    let load = Load::of(new.other_load);
    for (group, logs) in groups.iter().zip(&logs) {
        let was = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        let values = group.typical().map(|(_, now)| (was, now));
        let limits = Limits { ratio, absolute: tolerance.absolute, sessions: logs.len() };
        match limits.verdict(group, values, load) {
            Some(verdict) => check.add_times(group, values, verdict),
            None => check.compared += 1,
        }
    }
    check.remarks.push(format!(
        "seconds of {} of {all} {noun}s are compared with earlier sessions on this machine, {} at least: the session \
         effect is {}, and the limit × {ratio:.2}",
        groups.len(),
        logs.iter().map(Vec::len).min().unwrap_or_default(),
        percent(session_effect(&logs)),
    ));
    check.remark_load(new);
    groups.iter().map(|group| group.cases[0].of_all_seeds()).collect()
}

/// The bounds of a time against the mean of earlier sessions.
struct Limits {
    /// As a ratio.
    ratio: f64,
    /// In seconds.
    absolute: f64,
    /// Number of earlier sessions.
    sessions: usize,
}

impl Limits {
    /// Whether a group is slower, faster or undecided; none where it is not slower.
    fn verdict(&self, group: &Group, values: Option<(f64, f64)>, load: Option<Load>) -> Option<Verdict> {
        let undecided = group.lack.map(|lack| Verdict::undecided(lack.words()));
        let Some((was, now)) = values.filter(|_| undecided.is_none()) else { return undecided };
        let limit = (self.ratio * was).max(was + self.absolute);
        let detail = format!("× {:.2} of {} sessions", now / was, self.sessions);
        let (outcome, detail) = match () {
            () if load.is_some() && now <= GROSS_FACTOR * limit => {
                return load.map(|load| Verdict::undecided(load.words()));
            }
            () if now > limit => (CheckOutcome::Regressed, detail),
            () if now > GROSS_FACTOR * was => {
                (CheckOutcome::Undecided, format!("{detail}, though within their spread"))
            }
            () if now < (was / self.ratio).min(was - self.absolute) => (CheckOutcome::Improved, detail),
            () => return None,
        };
        Some(Verdict { outcome, detail, limit: Some(limit) })
    }
}

/// Logarithm of the geometric mean over cases of the median time, in each session that has all of them.
fn log_means(sessions: &[&BaselineSession], cases: &[CaseKey]) -> Vec<f64> {
    let of_session = |session: &&BaselineSession| {
        let log = |key: &CaseKey| {
            let case = session.cases.iter().find(|case| case.key == *key)?;
            Some(median(&case.repeats).ln())
        };
        let logs: Option<Vec<f64>> = cases.iter().map(log).collect();
        logs.map(|logs| logs.iter().sum::<f64>() / logs.len() as f64)
    };
    sessions.iter().filter_map(of_session).collect()
}

/// The relative standard deviation of times over sessions, pooled over groups.
fn session_effect(log_means: &[Vec<f64>]) -> f64 {
    let variances: Vec<f64> = log_means.iter().filter_map(|logs| sample_variance(logs)).collect();
    (variances.iter().sum::<f64>() / variances.len().max(1) as f64).sqrt().exp_m1()
}

/// What becomes of a history after a session.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtendedHistory {
    /// The text of the file; none where it stays as it is.
    pub text: Option<String>,
    /// A sentence that says what became of it.
    pub remark: String,
}

/// A history with the session of a run added. Sessions that failed their check for another reason than undecided
/// seconds, and sessions beside other programs or with an unknown load, are not added. Where a solver got faster, its older times are
/// removed.
///
/// # Errors
/// If the table of results cannot be built.
pub fn extended_history(
    old: &[BaselineSession],
    run: &Run,
    check: Option<&Check>,
) -> Result<ExtendedHistory> {
    let frame = Frame::new(run)?;
    let session = Timed::of(&Cases::of(&frame)).session(run.label());
    let findings = check.map(|check| &check.findings[..]).unwrap_or_default();
    let failed =
        findings.iter().any(|found| found.outcome.fails() && found.outcome != CheckOutcome::Undecided);
    let left_out = |why: &str| {
        let remark = format!("this session is not added to the history: {why}");
        Ok(ExtendedHistory { text: None, remark })
    };
    let Some(session) = session else { return left_out("it has no seconds of a known machine") };
    match session.load() {
        Some(Load::Disturbing) => return left_out("other programs used the processors"),
        Some(Load::Unknown) => return left_out("what other programs used of the processors is not known"),
        None => {}
    }
    if failed {
        return left_out("the check failed");
    }
    let faster: BTreeSet<CaseKey> = findings
        .iter()
        .filter(|found| {
            found.outcome == CheckOutcome::Improved && found.metric.as_deref() == Some(names::SECONDS)
        })
        .map(|found| found.key.of_all_seeds())
        .collect();
    let mut sessions: Vec<BaselineSession> = old.iter().filter(|old| old.id != session.id).cloned().collect();
    for session in &mut sessions {
        session.cases.retain(|case| !faster.contains(&case.key.of_all_seeds()));
    }
    let machine = session.machine.clone();
    sessions.push(session);
    let is_here = |session: &BaselineSession| session.machine.difference(&machine).is_none();
    let mut surplus =
        sessions.iter().filter(|session| is_here(session)).count().saturating_sub(MOST_SESSIONS);
    sessions.retain(|session| {
        let is_dropped = surplus > 0 && is_here(session);
        surplus -= usize::from(is_dropped);
        !is_dropped && !session.cases.is_empty()
    });
    let here = sessions.iter().filter(|session| is_here(session)).count();
    let remark = format!("the history holds {} of this machine", counted(here, "session"));
    Ok(ExtendedHistory { text: Some(text(&sessions)), remark })
}

/// The text of a history file.
fn text(sessions: &[BaselineSession]) -> String {
    let head = "# Written by `gpbench check --history`: the seconds of earlier sessions, oldest first.\nschema = 1\n";
    let sessions: String = sessions.iter().map(BaselineSession::text).collect();
    format!("{head}{sessions}")
}
