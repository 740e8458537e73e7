//! Detection of regressions: comparison of a run with a baseline file, case by case.
//!
//! A baseline is a TOML file that is kept under version control:
//!
//! ```toml
//! schema = 1
//!
//! [tolerance]
//! test_rmse = { absolute = 0.001, relative = 0.01 }
//!
//! [contents.datasets]
//! plant = ["4f1c..."]
//!
//! [contents.solvers]
//! cg = ["09ab..."]
//!
//! [[case]]
//! dataset = "toy"
//! kernel = "matern32"
//! estimator = "pathwise"
//! solver = "cg"
//! seed = 0
//! status = "ok"
//! metrics = { residual_y = 0.0087, test_rmse = 0.312 }
//! ```
//!
//! Cases are matched by their labels, not by their ids: an id holds the checksums of the binaries, and a check
//! compares a new binary. Timing repeats count as one case. A metric regresses when it gets worse than the baseline
//! by more than the larger of `absolute` and `relative * |baseline|`. The registry of metrics says which direction is
//! worse (of a metric without a better direction, any change is) and holds the default tolerances. `residual_y` and
//! `residual_probes` may grow up to the tolerance that the solver was asked for, where that is larger, but by no more
//! than a factor of 1.75. A baseline 100 times below that tolerance, as an exact solver's, is held to its own value.
//!
//! `contents` holds the SHA-256 of binary copies of data and of plugins' libraries. Where a run has others, a remark
//! says so. Files of earlier versions have none.
//!
//! A failed case that the baseline lacks fails the check; other such cases are reported. A baseline without any
//! metric of a case that gave an answer fails the check too: there is nothing to compare. Loose tolerances of the
//! file, ten thousand times a measured value or more, give a warning.
//!
//! A run is compared with an earlier run ([`against`]) as with the baseline that the earlier run would give. Where
//! the solver has changed, residuals may be anywhere within the tolerance; where cases of one name differ in more
//! than their programs, a remark names the differences.
//!
//! Seconds are compared too, between runs and with those that a baseline or a history holds in `[[session]]` tables:
//! the machine, and every repeat of each case ([`BaselineSession`]). By `seconds`, each solver on each problem is
//! slower, not slower or undecided, and what is undecided fails the check unless [`Check::allow_undecided`] is set.

mod cases;
mod changes;
mod check;
mod contents;
mod file;
mod groups;
mod history;
mod keys;
mod load;
mod loose_tolerance;
mod machine;
mod metrics;
mod notation;
mod seconds;
mod session;
mod timed;
mod update;

use std::collections::BTreeSet;

use gpbench_record::{TaskKind, names};

use crate::error::Result;
use crate::frame::{Cases, Frame};
use crate::run::Run;

pub use cases::CaseKey;
pub(crate) use changes::other_contents;
pub use check::{Against, Check, CheckOutcome, MetricCheck};
pub use file::{Baseline, BaselineCase, BaselineContents, BaselineTolerance};
pub use history::{ExtendedHistory, extended_history};
pub use machine::BaselineMachine;
pub use session::{BaselineSession, SessionCase};
pub use update::{doubtful_seconds, update, update_with_seconds};

use groups::Group;
use history::Earlier;
use timed::Timed;

/// What a check against a baseline file asks of seconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct SecondsAsked<'h> {
    /// Whether they must be compared: they are undecided where no earlier ones are known.
    pub required: bool,
    /// Earlier sessions beside that of the baseline, oldest first.
    pub history: &'h [BaselineSession],
}

/// Compares a run with a baseline: statuses, metrics, and seconds if it holds any.
///
/// # Errors
/// If the table of results cannot be built.
pub fn check(run: &Run, baseline: &Baseline) -> Result<Check> {
    check_seconds(run, baseline, &SecondsAsked::default())
}

/// As [`check`], with more to ask of seconds.
///
/// # Errors
/// If the table of results cannot be built.
pub fn check_seconds(run: &Run, baseline: &Baseline, asked: &SecondsAsked<'_>) -> Result<Check> {
    let frame = Frame::new(run)?;
    let cases = Cases::of(&frame);
    let mut check = metrics::compare(&cases, baseline, Against::Baseline, &BTreeSet::new());
    check.remarks.extend(baseline.contents.remarks(&BaselineContents::of(&cases)));
    let new = Timed::of(&cases);
    let sessions: Vec<&BaselineSession> = baseline.sessions.iter().chain(asked.history).collect();
    if asked.required || !sessions.is_empty() {
        compare_seconds(&mut check, &new, baseline, sessions, !asked.history.is_empty(), cases.noun());
    } else if new.has_times() {
        check.remarks.push(
            "the baseline holds no seconds, so none were compared; `gpbench check --update --with-seconds` records \
             them"
                .to_owned(),
        );
    }
    check.sort();
    Ok(check)
}

/// Compares seconds with those of earlier sessions. Those of the baseline's cases that no session has are undecided.
fn compare_seconds(
    check: &mut Check,
    new: &Timed,
    baseline: &Baseline,
    sessions: Vec<&BaselineSession>,
    is_history: bool,
    noun: &str,
) {
    let measured = sessions.iter().flat_map(|session| &session.cases).map(|case| case.key.of_all_seeds());
    let measured: BTreeSet<CaseKey> = measured.collect();
    let answered = baseline.cases.iter().filter(|case| case.status.is_answer());
    let answered: BTreeSet<CaseKey> = answered.map(|case| case.key.of_all_seeds()).collect();
    let registry = baseline.tolerance_of(names::SECONDS);
    let of_file = baseline.tolerance.get(names::SECONDS).copied();
    let of_session = of_file.unwrap_or_else(|| seconds::of_other_session(registry));
    let earlier = Earlier { sessions, is_history, of_session, of_history: registry };
    history::compare(check, new, &earlier, noun);
    let is_new = |key: &CaseKey| answered.contains(key) && !measured.contains(key);
    let unknown: Vec<Group> =
        Group::alone(new).into_iter().filter(|group| is_new(&group.cases[0].of_all_seeds())).collect();
    if !unknown.is_empty() {
        let count = unknown.len();
        check.remarks.push(format!("seconds of {count} {noun}s are undecided: no earlier session has them"));
        check.add_undecided(&unknown, "no earlier seconds");
    }
}

/// Whether the known environments of two runs permit a comparison of their times.
pub(crate) fn is_one_machine(old: &Cases<'_>, new: &Cases<'_>) -> bool {
    match [old, new].map(|cases| cases.timed_environment().map(BaselineMachine::of)) {
        [Some(old), Some(new)] => old.difference(&new).is_none(),
        _ => true,
    }
}

/// Compares a run with an earlier one: all that a baseline of the earlier one would hold, and times.
///
/// # Errors
/// If a table of results cannot be built.
pub fn against(run: &Run, old: &Run) -> Result<Check> {
    let [run, old] = [Frame::new(run)?, Frame::new(old)?];
    Ok(against_cases(&Cases::of(&run), &Cases::of(&old)))
}

/// Compares cases with earlier ones.
pub(crate) fn against_cases(run: &Cases<'_>, old: &Cases<'_>) -> Check {
    let remarks = [("here", run), ("in the earlier run", old)].map(|(what, cases)| {
        let remarks = cases.remarks_on_times().into_iter();
        remarks.map(|remark| format!("{what}, {remark}")).collect::<Vec<_>>()
    });
    let times = [run, old].map(Timed::of);
    let [run, old] = [run, old].map(|cases| cases.with_times_of_one_kind().with_comparable_times());
    let (run, old) = (&run, &old);
    let baseline = Baseline::of_cases(old);
    let changes = changes::changes(old, run);
    let mut check = metrics::compare(run, &baseline, Against::Run, &changes.solvers);
    check.remarks.extend(changes.remark);
    check.remarks.extend(remarks.concat());
    let (tasks, old_tasks) = (run.tasks(), old.tasks());
    if check.matched == 0 && !tasks.iter().any(|task| old_tasks.contains(task)) {
        let names =
            |tasks: &[TaskKind]| tasks.iter().map(|task| task.as_str()).collect::<Vec<_>>().join(", ");
        check.remarks.push(format!(
            "the runs share no case: the task is {} here and {} in the earlier run; `gpbench compare` sets learners beside \
             solvers",
            names(&tasks),
            names(&old_tasks)
        ));
    }
    let registry = baseline.tolerance_of(names::SECONDS);
    let tolerance = if is_one_session(run, old) { registry } else { seconds::of_other_session(registry) };
    let [new, earlier] = &times;
    seconds::compare(&mut check, new, earlier, tolerance, run.noun());
    check.sort();
    check
}

/// Whether the cases are of one run, in which repeats alternate, and none of them was taken from another.
fn is_one_session(new: &Cases<'_>, old: &Cases<'_>) -> bool {
    let is_own = |cases: &Cases<'_>| cases.rows().all(|row| row.reused_from.is_none());
    std::ptr::eq(new.run(), old.run()) && is_own(new) && is_own(old)
}
