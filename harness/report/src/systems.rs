//! Systems, on which solvers are compared one by one: problems with their seeds.

use std::collections::BTreeMap;

use gpbench_record::{CaseStatus, TaskKind, names};
use gpbench_statistics::median;

use crate::frame::{CaseView, Cases};
use crate::problem::GroupProblem;
use crate::results::Results;

/// The systems of each problem, by seed.
pub(crate) type Problems<'f> = BTreeMap<GroupProblem, BTreeMap<u64, System<'f>>>;

/// The cases of all solvers on one problem with one seed.
#[derive(Default)]
pub(crate) struct System<'f> {
    /// Timing repeats by solver.
    pub(crate) cases: BTreeMap<&'f str, Vec<CaseView<'f>>>,
}

impl<'f> System<'f> {
    /// A cost of a solver: the median of its timing repeats, infinite where one of them has none; `None` if the
    /// solver did not run.
    pub(crate) fn cost(&self, solver: &str, cost: impl Fn(&CaseView<'f>) -> Option<f64>) -> Option<f64> {
        let repeats = self.cases.get(solver)?;
        Some(reduced(repeats.iter().map(|case| cost(case).unwrap_or(f64::INFINITY))))
    }

    /// A number that all of its cases share, from the first that has it.
    pub(crate) fn shared(&self, number: impl Fn(&CaseView<'f>) -> Option<f64>) -> Option<f64> {
        self.cases.values().flatten().find_map(number)
    }

    /// Whether all answers have times that may be compared.
    fn is_timed(&self) -> bool {
        let has_time = |case: &CaseView<'f>| !case.is_answer() || case.metric(names::SECONDS).is_some();
        self.cases.values().flatten().all(has_time)
    }
}

/// The median of timing repeats; infinite where one of them is.
pub(crate) fn reduced(repeats: impl Iterator<Item = f64>) -> f64 {
    let repeats: Vec<f64> = repeats.collect();
    let median = median(&repeats).filter(|_| repeats.iter().all(|cost| cost.is_finite()));
    median.unwrap_or(f64::INFINITY)
}

/// The systems of some cases. Skipped cases are none: they did not run.
pub(crate) fn systems<'f>(cases: &Cases<'f>) -> Problems<'f> {
    let mut problems = Problems::new();
    for case in cases.iter().filter(|case| case.status() != CaseStatus::Skipped) {
        let systems = problems.entry(GroupProblem::of(&case.row().labels)).or_default();
        systems.entry(case.seed()).or_default().cases.entry(case.solver()).or_default().push(case);
    }
    problems
}

/// The systems with comparable times alone.
pub(crate) fn timed_systems<'f>(results: &Results<'f>) -> Problems<'f> {
    let mut problems = systems(&results.comparable);
    problems.values_mut().for_each(|systems| systems.retain(|_, system| system.is_timed()));
    problems.retain(|_, systems| !systems.is_empty());
    problems
}

/// The time by which solvers are compared: to the run's target, or else to the tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    Target,
    Tolerance,
}

impl Goal {
    /// The goal of the results; `None` for a task that has neither.
    pub(crate) fn of(results: &Results<'_>) -> Option<Goal> {
        let is_of = |tasks: &[TaskKind]| results.cases.tasks().iter().all(|task| tasks.contains(task));
        let has_tolerance = || results.cases.iter().any(|case| case.case().budget.tolerance.is_some());
        match results.cases.options().target {
            Some(_) if is_of(&[TaskKind::Solve, TaskKind::Posterior, TaskKind::Train, TaskKind::Learn]) => {
                Some(Goal::Target)
            }
            None if is_of(&[TaskKind::Solve, TaskKind::Posterior, TaskKind::Train]) && has_tolerance() => {
                Some(Goal::Tolerance)
            }
            _ => None,
        }
    }

    /// Seconds of a case that reached it.
    pub(crate) fn seconds(self, case: &CaseView<'_>) -> Option<f64> {
        let seconds = match self {
            Goal::Target => case.metric(names::SECONDS_TO_TARGET),
            Goal::Tolerance => case
                .metric(names::SECONDS)
                .filter(|_| case.status() == CaseStatus::Ok && case.case().budget.tolerance.is_some()),
        };
        seconds.filter(|seconds| *seconds > 0.0)
    }

    /// `seconds to the target`, as in titles.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Goal::Target => "seconds to the target",
            Goal::Tolerance => "seconds to the tolerance",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_of_which_one_misses_miss() {
        assert_eq!(reduced([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(reduced([3.0, f64::INFINITY, 2.0].into_iter()), f64::INFINITY);
    }
}
