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
//! Cases are matched by their labels, not by their ids: an id holds the checksums of the binaries, and a check compares
//! a new binary. Timing repeats count as one case. A metric regresses when it gets worse than the baseline by more than
//! the larger of `absolute` and `relative * |baseline|`. The registry of metrics says which direction is worse (of a
//! metric without a better direction, any change is) and holds the default tolerances. `residual_y` and
//! `residual_probes` may grow up to the tolerance that the solver was asked for, where that is larger, but by no more
//! than a factor of 1.75. A baseline 100 times below that tolerance, as an exact solver's, is held to its own value.
//!
//! `contents` holds the SHA-256 of binary copies of data and of plugins' libraries. Where a run has others, a remark says so.
//! Files of earlier versions have none.
//!
//! A failed case that the baseline lacks fails the check; other such cases are reported. A baseline without any metric of a
//! case that gave an answer fails the check too: there is nothing to compare. Loose tolerances of the file, ten thousand
//! times a measured value or more, give a warning.
//!
//! A run is compared with an earlier run ([`against`]) as with the baseline that the earlier run would give. Where the solver
//! has changed, residuals may be anywhere within the tolerance; where cases of one name differ in more than their
//! programs, a remark names the differences. Times are compared too: a median that exceeds the old one by more than the
//! tolerance is a regression where a rank test over the repeats rules out chance.

mod cases;
mod changes;
mod check;
mod contents;
mod file;
mod keys;
mod loose_tolerance;
mod metrics;
mod rank;
mod seconds;
mod update;

use gpbench_record::{TaskKind, names};

use crate::error::Result;
use crate::frame::{Cases, Frame};
use crate::run::Run;

pub use cases::CaseKey;
pub(crate) use changes::other_contents;
pub use check::{Against, Check, CheckOutcome, MetricCheck};
pub use file::{Baseline, BaselineCase, BaselineContents, BaselineTolerance};
pub use metrics::check;
pub use seconds::FALSE_ALARMS;
pub(crate) use seconds::is_one_machine;
pub use update::update;

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
    seconds::compare(&mut check, run, old, baseline.tolerance_of(names::SECONDS));
    check.sort();
    check
}
