//! Costs of a solver by seed, until it reaches the goal of a run or ends without it.

use std::collections::BTreeMap;

use gpbench_record::{CaseStatus, Row, Target, names};
use gpbench_statistics::{bracket, ert, timing_noise};

use crate::clock::{Clock, Spent};
use crate::frame::{CaseView, Cases};
use crate::pairs::{reduced, repeats};
use crate::target::{Limits, Reached};

/// The quality that costs are counted to.
pub(crate) enum Goal<'f> {
    /// The target of the run.
    Target(&'f Target, Limits<'f>),
    /// The tolerance of the budget.
    Tolerance,
}

/// The quality that all cases of a solver are held to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Level {
    /// The target of the run.
    Target,
    /// This tolerance of the budget.
    Tolerance(f64),
}

/// The cost of one seed, its timing repeats reduced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SeedCost {
    /// Whether all repeats reached the goal.
    pub(crate) is_reached: bool,
    /// The cost until the goal was reached, or else until the case ended; `None` where that is not known.
    pub(crate) cost: Option<f64>,
    /// The cost at the last evaluation that missed the goal; the cost itself where the end of the solve is when it was reached.
    missing: Option<f64>,
    /// Whether the budget ended what missed the goal, so that its cost is a lower bound of the cost to the goal.
    pub(crate) is_budget_spent: bool,
    /// Whether memory was exhausted, which another seed would not change.
    is_out_of_memory: bool,
}

/// Costs of a solver on one problem.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Costs {
    /// The quality that the solver is held to; `None` where the run has no target and its cases have no tolerance, or several,
    /// and where the limit of the target is not known of some answer.
    pub(crate) level: Option<Level>,
    /// By seed. Cases that were not run have none.
    pub(crate) seeds: BTreeMap<u64, SeedCost>,
}

impl<'f> Goal<'f> {
    /// The goal of some cases of one task: the target of their run if it has one of a metric of the task, else the tolerance.
    pub(crate) fn of(cases: &Cases<'f>) -> Goal<'f> {
        let has = |metrics: &[&str], target: &Target| metrics.iter().any(|metric| *metric == target.metric);
        let is_of_task =
            |target: &&Target| cases.tasks().iter().any(|task| has(Target::metrics(*task), target));
        match cases.options().target.as_ref().filter(is_of_task) {
            Some(target) => Goal::Target(target, Limits::new(cases.record().rows.iter(), target)),
            None => Goal::Tolerance,
        }
    }

    /// The goal in words, as the end of "seconds to".
    pub(crate) fn words(&self) -> &'static str {
        match self {
            Goal::Target(..) => "the target",
            Goal::Tolerance => "the tolerance",
        }
    }

    fn level(&self, cases: &[CaseView<'_>]) -> Option<Level> {
        match self {
            Goal::Target(_, limits) => {
                let is_known = |case: &CaseView<'_>| !case.is_answer() || limits.of(case.row()).is_some();
                cases.iter().all(is_known).then_some(Level::Target)
            }
            Goal::Tolerance => {
                let mut tolerances = cases.iter().map(|case| case.case().budget.tolerance);
                let first = tolerances.next()??;
                tolerances.all(|other| other == Some(first)).then_some(Level::Tolerance(first))
            }
        }
    }

    /// Where a case reached the goal: costs there, and at the last evaluation before. `None` where it did not.
    fn reached(&self, case: &CaseView<'_>) -> Option<Reached> {
        match self {
            Goal::Target(_, limits) => limits.reached(case.row()).filter(|_| case.is_answer()),
            Goal::Tolerance => {
                let end = Spent {
                    seconds: Clock::Seconds.spent(case.row()).unwrap_or(f64::NAN),
                    epochs: Clock::Epochs.spent(case.row()),
                };
                (case.status() == CaseStatus::Ok).then_some(Reached { first: end, missing: end })
            }
        }
    }
}

/// Whether the budget of a case ended it, of epochs or of seconds.
fn is_budget_spent(row: &Row) -> bool {
    match row.status {
        CaseStatus::Timeout => true,
        CaseStatus::Ok | CaseStatus::NotConverged => !row.reproducible || are_epochs_spent(row),
        _ => false,
    }
}

/// Whether one more iteration would have exceeded the budget of epochs. Of training, whose budget is that of a step, it is not
/// known.
fn are_epochs_spent(row: &Row) -> bool {
    let metric = |name: &str| row.metrics.get(name);
    let spent = || {
        let (epochs, iterations) = (metric(names::EPOCHS)?, metric(names::ITERATIONS)?);
        let of_iteration = (epochs - metric(names::EPOCHS_SETUP).unwrap_or(0.0)) / iterations.max(1.0);
        Some(epochs + of_iteration > row.case.budget.max_epochs?)
    };
    row.case.task.training().is_none() && spent().unwrap_or(false)
}

impl SeedCost {
    fn new(goal: &Goal<'_>, clock: Clock, repeats: &[CaseView<'_>]) -> SeedCost {
        let reached: Vec<Option<Reached>> = repeats.iter().map(|case| goal.reached(case)).collect();
        let is_reached = reached.iter().all(Option::is_some);
        // Times that are not shown are not known.
        let is_shown = |case: &CaseView<'_>| clock != Clock::Seconds || case.is_timed() || !case.is_answer();
        let all = |costs: Option<Vec<f64>>| {
            costs
                .filter(|_| repeats.iter().all(is_shown))
                .and_then(|costs| reduced(clock.metric().name, &costs))
        };
        let failed =
            || repeats.iter().zip(&reached).filter(|(_, reached)| reached.is_none()).map(|(case, _)| case);
        let of_reached = |of: fn(&Reached) -> Spent| {
            all(reached.iter().map(|reached| clock.of(of(reached.as_ref()?))).collect::<Option<Vec<f64>>>())
        };
        SeedCost {
            is_reached,
            cost: match is_reached {
                true => of_reached(|reached| reached.first),
                false => all(failed().map(|case| until_end(case.row(), clock)).collect()),
            },
            missing: if is_reached { of_reached(|reached| reached.missing) } else { None },
            is_budget_spent: !is_reached && failed().all(|case| is_budget_spent(case.row())),
            is_out_of_memory: repeats.iter().any(|case| case.status() == CaseStatus::OutOfMemory),
        }
    }
}

/// The cost of a case until it ended: of one that was killed at its limit, the limit.
fn until_end(row: &Row, clock: Clock) -> Option<f64> {
    let limit = || match clock {
        Clock::Seconds if row.status == CaseStatus::Timeout => row.case.budget.seconds,
        _ => None,
    };
    clock.spent(row).or_else(limit)
}

impl Costs {
    /// The costs of some cases, all of one solver and problem.
    pub(crate) fn new<'f>(goal: &Goal<'_>, clock: Clock, cases: impl Iterator<Item = CaseView<'f>>) -> Costs {
        let cases: Vec<CaseView<'f>> = cases.filter(|case| case.status() != CaseStatus::Skipped).collect();
        let mut of_seed: BTreeMap<u64, Vec<CaseView<'f>>> = BTreeMap::new();
        cases.iter().for_each(|case| of_seed.entry(case.seed()).or_default().push(*case));
        let seeds = of_seed.into_iter().map(|(seed, repeats)| (seed, SeedCost::new(goal, clock, &repeats)));
        Costs { level: goal.level(&cases), seeds: seeds.collect() }
    }

    /// Whether some seed missed the goal that the solver is held to.
    pub(crate) fn has_missed(&self) -> bool {
        self.level.is_some() && self.seeds.values().any(|seed| !seed.is_reached)
    }

    /// Mean logarithm of the distance between the evaluations before and after the goal was reached, over some seeds; `None`
    /// where one is not known, or the cost before is zero.
    pub(crate) fn bracket<'s>(&self, seeds: impl Iterator<Item = &'s u64>) -> Option<f64> {
        let ends = |seed: &u64| {
            let of_seed = self.seeds.get(seed)?;
            Some((of_seed.cost?, of_seed.missing.filter(|missing| *missing > 0.0)?))
        };
        let (reaching, missing): (Vec<f64>, Vec<f64>) =
            seeds.map(ends).collect::<Option<Vec<_>>>()?.into_iter().unzip();
        Some(bracket(&reaching, &missing))
    }

    /// The expected running time with restarts under new seeds. `None` without a goal, where a cost is not known, and where
    /// memory was exhausted, for which another seed is no remedy.
    pub(crate) fn expected(&self) -> Option<ert::Ert> {
        let run = |seed: &SeedCost| ert::Run { cost: seed.cost, reached: seed.is_reached };
        let is_known = |seed: &SeedCost| seed.cost.is_some() && !seed.is_out_of_memory;
        self.level.filter(|_| self.seeds.values().all(is_known))?;
        ert::expected_running_time(&self.seeds.values().map(run).collect::<Vec<ert::Run>>())
    }

    /// Costs of the seeds that reached the goal.
    pub(crate) fn of_reached(&self) -> Vec<f64> {
        self.seeds.values().filter(|seed| seed.is_reached).filter_map(|seed| seed.cost).collect()
    }
}

/// Relative noise of the seconds of timing repeats; `None` where no seed has two.
pub(crate) fn noise<'f>(cases: impl Iterator<Item = CaseView<'f>>) -> Option<f64> {
    let mut cases = cases.peekable();
    let metric = Clock::Seconds.of_case(cases.peek()?.row());
    timing_noise(&repeats(cases, metric).into_values().collect::<Vec<Vec<f64>>>())
}

#[cfg(test)]
impl SeedCost {
    /// A seed that reached the goal at a cost, after a last evaluation at `missing` that did not.
    pub(crate) fn reached(cost: f64, missing: f64) -> SeedCost {
        SeedCost {
            is_reached: true,
            cost: Some(cost),
            missing: Some(missing),
            is_budget_spent: false,
            is_out_of_memory: false,
        }
    }

    /// A seed whose budget ended it at a cost.
    pub(crate) fn spent(cost: f64) -> SeedCost {
        SeedCost { is_reached: false, missing: None, is_budget_spent: true, ..SeedCost::reached(cost, cost) }
    }

    /// A seed that crashed.
    pub(crate) fn crashed() -> SeedCost {
        SeedCost { cost: None, is_budget_spent: false, ..SeedCost::spent(0.0) }
    }
}

#[cfg(test)]
impl Costs {
    /// The costs of seeds 0, 1, ..., held to a tolerance.
    pub(crate) fn of_seeds(seeds: &[SeedCost]) -> Costs {
        Costs { level: Some(Level::Tolerance(0.01)), seeds: (0..).zip(seeds.iter().copied()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::testing;
    use gpbench_runs::RunRecord;

    use super::*;
    use crate::frame::Frame;
    use crate::run::Run;

    /// A case of a seed and repeat that took so many seconds and ended with a status.
    fn row(seed: u64, repeat: u32, seconds: f64, status: CaseStatus) -> Row {
        let mut case = testing::case("cg");
        (case.seed, case.repeat) = (seed, repeat);
        case.budget.max_epochs = Some(100.0);
        let metrics = [(names::SECONDS, seconds), (names::EPOCHS, 50.0), (names::ITERATIONS, 50.0)];
        Row { status, ..testing::row(case, &metrics) }
    }

    fn costs(rows: Vec<Row>) -> Costs {
        let run = Run { record: RunRecord { rows, ..RunRecord::default() }, warnings: Vec::new() };
        let frame = Frame::new(&run).unwrap();
        let cases = Cases::of(&frame);
        Costs::new(&Goal::of(&cases), Clock::Seconds, cases.iter())
    }

    #[test]
    fn repeats_are_reduced_to_their_median_and_one_that_fails_is_a_failure() {
        let ok = CaseStatus::Ok;
        let found = costs(vec![row(0, 0, 1.0, ok), row(0, 1, 2.0, ok), row(0, 2, 9.0, ok)]);
        assert_eq!(
            (found.level, found.seeds[&0]),
            (Some(Level::Tolerance(0.01)), SeedCost::reached(2.0, 2.0))
        );
        let found = costs(vec![row(0, 0, 1.0, ok), row(0, 1, 30.0, CaseStatus::NotConverged)]);
        assert_eq!((found.seeds[&0].is_reached, found.seeds[&0].cost), (false, Some(30.0)));
    }

    #[test]
    fn only_a_spent_budget_bounds_the_cost() {
        let is_spent = |row: Row| costs(vec![row]).seeds[&0].is_budget_spent;
        let stalled = row(0, 0, 1.0, CaseStatus::NotConverged);
        assert!(!is_spent(stalled.clone()), "half of the epochs are left");
        let mut full = stalled.clone();
        full.metrics.insert(names::EPOCHS, 99.5);
        assert!(is_spent(full), "another iteration takes two epochs");
        assert!(is_spent(Row { reproducible: false, ..stalled }), "its time was up");
        assert!(is_spent(row(0, 0, 1.0, CaseStatus::Timeout)));
        for status in [CaseStatus::Crashed, CaseStatus::Diverged, CaseStatus::OutOfMemory] {
            assert!(!is_spent(row(0, 0, 1.0, status)), "{status}");
        }
    }

    #[test]
    fn a_killed_case_costs_its_limit_and_a_crash_has_no_known_cost() {
        let mut killed = row(0, 0, 1.0, CaseStatus::Timeout);
        killed.metrics = Default::default();
        killed.case.budget.seconds = Some(60.0);
        assert_eq!(costs(vec![killed.clone()]).seeds[&0].cost, Some(60.0));
        killed.status = CaseStatus::Crashed;
        assert_eq!(costs(vec![killed]).seeds[&0].cost, None);
        assert!(costs(vec![row(0, 0, 1.0, CaseStatus::Skipped)]).seeds.is_empty());
    }

    #[test]
    fn cases_without_one_common_tolerance_have_no_goal() {
        let mut rows = vec![row(0, 0, 1.0, CaseStatus::Ok), row(1, 0, 1.0, CaseStatus::Ok)];
        rows[1].case.budget.tolerance = Some(0.1);
        assert_eq!(costs(rows.clone()).level, None);
        rows.iter_mut().for_each(|row| row.case.budget.tolerance = None);
        assert_eq!(costs(rows).level, None);
    }

    #[test]
    fn an_expected_running_time_needs_all_costs_and_a_failure_that_a_seed_may_change() {
        let reached = |cost: f64| SeedCost::reached(cost, cost);
        let seeds = [reached(4.0), reached(5.5), SeedCost::spent(30.0), reached(3.2), SeedCost::spent(30.0)];
        let found = Costs::of_seeds(&seeds).expected().unwrap();
        assert!((found.ert - 72.7 / 3.0).abs() < 1e-12 && found.successes == 3);
        assert_eq!(Costs::of_seeds(&[reached(4.0), SeedCost::crashed()]).expected(), None);
        let memory = SeedCost { is_out_of_memory: true, ..SeedCost::spent(3.0) };
        assert_eq!(Costs::of_seeds(&[reached(4.0), memory]).expected(), None);
        let untold = Costs { level: None, ..Costs::of_seeds(&seeds) };
        assert_eq!(untold.expected(), None);
    }
}
