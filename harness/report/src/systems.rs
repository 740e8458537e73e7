//! Systems, on which solvers are compared one by one: problems with their seeds.

use std::collections::{BTreeMap, BTreeSet};

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

/// The problems on which solvers are compared over data sets: of each data set those on which most of them ran. A
/// kernel that only some learners can have says nothing of the others.
pub(crate) struct Comparison<'f> {
    pub(crate) problems: Problems<'f>,
    /// Number of problems that are left out.
    left_out: usize,
    /// Solvers that ran on those alone.
    absent: BTreeSet<&'f str>,
}

impl<'f> Comparison<'f> {
    /// The comparison on those of some problems.
    pub(crate) fn of(mut problems: Problems<'f>) -> Comparison<'f> {
        let (count, everyone) = (problems.len(), solvers(problems.values().flat_map(BTreeMap::values)));
        let mut most: BTreeMap<String, usize> = BTreeMap::new();
        for (problem, systems) in &problems {
            let of_dataset = most.entry(problem.dataset.clone()).or_default();
            *of_dataset = solvers(systems.values()).len().max(*of_dataset);
        }
        problems.retain(|problem, systems| solvers(systems.values()).len() == most[&problem.dataset]);
        let kept = solvers(problems.values().flat_map(BTreeMap::values));
        let absent = everyone.difference(&kept).copied().collect();
        Comparison { left_out: count - problems.len(), problems, absent }
    }

    /// Whether a solver takes part.
    pub(crate) fn has(&self, solver: &str) -> bool {
        !self.absent.contains(solver)
    }

    /// What is left out, as a sentence after others; empty if nothing is. `noun` is the word for a solver.
    pub(crate) fn words(&self, noun: &str) -> String {
        if self.left_out == 0 {
            return String::new();
        }
        let absent: Vec<&str> = self.absent.iter().copied().collect();
        let and = if absent.is_empty() { "" } else { ", and with them " };
        let names = absent.join(", ");
        format!(" Left out: kernels and estimators with which fewer {noun}s ran{and}{names}.")
    }
}

/// The solvers that ran on some systems.
fn solvers<'a, 'f: 'a>(systems: impl Iterator<Item = &'a System<'f>>) -> BTreeSet<&'f str> {
    systems.flat_map(|system| system.cases.keys().copied()).collect()
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

    /// A system on which these solvers ran.
    fn system(solvers: &[&'static str]) -> System<'static> {
        System { cases: solvers.iter().map(|solver| (*solver, Vec::new())).collect() }
    }

    #[test]
    fn problems_of_fewer_solvers_are_left_out() {
        let problem = |dataset: &str, kernel: &str| GroupProblem {
            dataset: dataset.to_owned(),
            kernel: kernel.to_owned(),
            estimator: None,
        };
        let all = Problems::from([
            (
                problem("pol", "matern32"),
                BTreeMap::from([(0, system(&["a", "b"])), (1, system(&["a", "c"]))]),
            ),
            (problem("pol", "rbf"), BTreeMap::from([(0, system(&["a", "d"]))])),
            // Two kernels with as many solvers, and a data set on which one of all did not run.
            (problem("bike", "matern32"), BTreeMap::from([(0, system(&["a", "b"]))])),
            (problem("bike", "rbf"), BTreeMap::from([(0, system(&["b", "a"]))])),
        ]);
        let compared = Comparison::of(all);
        let kept: Vec<String> = compared
            .problems
            .keys()
            .map(|problem| format!("{} {}", problem.dataset, problem.kernel))
            .collect();
        assert_eq!(kept, ["bike matern32", "bike rbf", "pol matern32"]);
        assert!(compared.has("c") && !compared.has("d") && compared.has("another"));
        let words = " Left out: kernels and estimators with which fewer solvers ran, and with them d.";
        assert_eq!(compared.words("solver"), words);
        assert_eq!(Comparison::of(Problems::new()).words("solver"), "");
    }

    #[test]
    fn repeats_of_which_one_misses_miss() {
        assert_eq!(reduced([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(reduced([3.0, f64::INFINITY, 2.0].into_iter()), f64::INFINITY);
    }
}
