//! Two solvers or learners on one problem, seed by seed.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::metric::{self, Direction, METRICS, Metric, Shown};
use gpbench_record::{CaseStatus, names};
use gpbench_statistics::{estimate, geometric_estimate, ratio as mean_ratio};

use super::relation::Relation;
use crate::clock::Clock;
use crate::costs::{Costs, Goal, Level};
use crate::frame::{CaseView, Cases};
use crate::pairs::{by_seed, differences, mean};
use crate::problem::GroupProblem;
use crate::ratio::{Ratio, ratio};
use crate::split::Split;

/// Costs of whole cases, and of their way to a target. Where there is a goal, those to the goal take their place.
const TO_A_GOAL: [&str; 5] =
    [names::SECONDS, names::EPOCHS, names::SECONDS_TRAIN, names::SECONDS_TO_TARGET, names::EPOCHS_TO_TARGET];

/// The cases of two sides on one problem, such as two solvers or two runs, with the seeds that both ran.
pub(crate) struct Pair<'f> {
    pub(crate) problem: GroupProblem,
    sides: [Vec<CaseView<'f>>; 2],
    pub(crate) seeds: BTreeSet<u64>,
}

/// One number of both solvers, and how the two relate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) metric: &'static Metric,
    /// Means over the common seeds, geometric where the values are compared as ratios.
    pub(crate) values: [Option<f64>; 2],
    pub(crate) relation: Option<Relation>,
}

/// How many times as fast the first solver is as the second.
pub(super) struct Speed {
    pub(super) ratio: Ratio,
    /// What is timed.
    pub(super) what: String,
    /// Logarithms of the ratios, by seed.
    pub(super) logs: BTreeMap<u64, f64>,
    /// Mean logarithmic distances between the evaluations around the goal, of both; `None` where one is not known.
    pub(super) brackets: Option<[f64; 2]>,
}

impl<'f> Pair<'f> {
    /// The pair on a problem; `None` where no seed was run with both.
    pub(crate) fn new(problem: &GroupProblem, sides: [&Cases<'f>; 2]) -> Option<Pair<'f>> {
        let own = sides.map(|cases| cases.iter().filter(|case| case.is_of(problem)).collect());
        Pair::of_cases(problem, own)
    }

    /// The pair of the cases of two sides, which may be of estimators of their own; `None` where no seed was run with both.
    pub(crate) fn of_cases(problem: &GroupProblem, cases: [Vec<CaseView<'f>>; 2]) -> Option<Pair<'f>> {
        let own = cases.map(|own| {
            let was_run = own.into_iter().filter(|case| case.status() != CaseStatus::Skipped);
            was_run.collect::<Vec<CaseView<'f>>>()
        });
        let [first, second] =
            [0, 1].map(|side| own[side].iter().map(CaseView::seed).collect::<BTreeSet<u64>>());
        let seeds: BTreeSet<u64> = &first & &second;
        let sides = own.map(|cases| cases.into_iter().filter(|case| seeds.contains(&case.seed())).collect());
        (!seeds.is_empty()).then(|| Pair { problem: problem.clone(), sides, seeds })
    }

    /// The cases of the first solver (0) or the second (1).
    pub(crate) fn of(&self, side: usize) -> impl Iterator<Item = CaseView<'f>> + '_ {
        self.sides[side].iter().copied()
    }

    /// The cases of both.
    pub(crate) fn all(&self) -> impl Iterator<Item = CaseView<'f>> + '_ {
        self.sides.iter().flatten().copied()
    }

    /// Largest number of timing repeats of a seed.
    pub(super) fn repeats(&self) -> usize {
        self.all().map(|case| case.row().labels.repeat as usize + 1).max().unwrap_or(1)
    }

    /// What both solvers have in common, as words for "held equal": what a comparison of seconds is read with.
    pub(super) fn held_equal(&self) -> Vec<&'static str> {
        let is_one = |of: &dyn Fn(&CaseView<'f>) -> String| {
            self.all().map(|case| of(&case)).collect::<BTreeSet<_>>().len() == 1
        };
        let same_budget = is_one(&|case| format!("{:?}", case.case().budget));
        let same_machine = is_one(&|case| case.environment().unwrap_or_default().to_owned());
        let held = [
            ("seeds", true),
            ("estimator", self.problem.estimator.is_some()),
            ("budget", same_budget),
            ("threads", same_machine),
            ("machine", same_machine),
        ];
        held.into_iter().filter(|(_, is_held)| *is_held).map(|(what, _)| what).collect()
    }

    fn costs(&self, goal: &Goal<'_>, clock: Clock) -> [Costs; 2] {
        [0, 1].map(|side| Costs::new(goal, clock, self.of(side)))
    }

    /// How many times as fast the first solver is: to the goal that both are held to, or in whole cases of learners. `None` where
    /// there is nothing to state.
    pub(super) fn speed(&self, goal: &Goal<'_>) -> Option<Speed> {
        let costs = self.costs(goal, Clock::Seconds);
        let [first, second] = &costs;
        match common_level(&costs) {
            Some(level) => Some(Speed {
                ratio: ratio(first, second)?,
                what: seconds_to(goal, level),
                logs: log_ratios(&costs),
                brackets: match level {
                    Level::Target => first
                        .bracket(self.seeds.iter())
                        .zip(second.bracket(self.seeds.iter()))
                        .map(Into::into),
                    Level::Tolerance(_) => Some([0.0; 2]),
                },
            }),
            None => {
                let is_learner = self.all().all(|case| case.case().task.learning().is_some());
                let metric = metric::find(names::SECONDS).filter(|_| is_learner)?;
                let values = self.values(metric);
                Some(Speed {
                    ratio: self.whole_ratio(metric, &values)?,
                    what: "seconds of the whole fit".to_owned(),
                    logs: logs(&values),
                    brackets: Some([0.0; 2]),
                })
            }
        }
    }

    /// The numbers of both solvers: costs to the goal, then whatever runs are compared by.
    pub(crate) fn lines(&self, goal: &Goal<'_>) -> Vec<Line> {
        let costs = [Clock::Seconds, Clock::Epochs].map(|clock| self.costs(goal, clock));
        let level = common_level(&costs[0]);
        let is_training = self.all().any(|case| case.case().task.training().is_some());
        let to_goal = level.into_iter().flat_map(|level| {
            let metrics = match level {
                Level::Target => [names::SECONDS_TO_TARGET, names::EPOCHS_TO_TARGET],
                Level::Tolerance(_) if is_training => [names::SECONDS_TRAIN, names::EPOCHS],
                Level::Tolerance(_) => [names::SECONDS, names::EPOCHS],
            };
            metrics
                .into_iter()
                .zip(&costs)
                .filter_map(|(name, costs)| line_to_goal(metric::find(name)?, costs))
        });
        let is_compared = |metric: &&'static Metric| {
            let is_replaced = level.is_some() && TO_A_GOAL.contains(&metric.name);
            metric.is_shown(Shown::Compare) && metric.direction != Direction::Neither && !is_replaced
        };
        let split = Split::of(self.all());
        let others = METRICS.iter().filter(is_compared).filter_map(|metric| self.line(metric, split));
        to_goal.chain(others).collect()
    }

    /// A metric of both solvers by seed, where there are answers.
    fn values(&self, metric: &Metric) -> [BTreeMap<u64, f64>; 2] {
        [0, 1].map(|side| by_seed(self.of(side), metric.name))
    }

    /// The line of a metric of whole cases; `None` where no seed has a value of both.
    pub(crate) fn line(&self, metric: &'static Metric, split: Split) -> Option<Line> {
        let values = self.values(metric);
        let [first, second] = &values;
        let is_common = |seed: &&u64| second.contains_key(seed);
        let common: Vec<u64> = first.keys().filter(is_common).copied().collect();
        let of_side = |values: &BTreeMap<u64, f64>| -> Option<f64> {
            let own: Vec<f64> = common.iter().map(|seed| values[seed]).collect();
            let is_positive = own.iter().all(|value| *value > 0.0);
            match metric.is_compared_as_log() && is_positive {
                true => geometric_estimate(&own).map(|found| found.mean),
                false => mean(own.into_iter()),
            }
        };
        let relation = match metric.is_compared_as_log() {
            true => self.whole_ratio(metric, &values).map(Relation::Ratio),
            false => estimate(&differences(first, second), split.extra_variance(metric))
                .map(|estimate| Relation::Difference { estimate, of: self.seeds.len() }),
        };
        (!common.is_empty()).then(|| Line { metric, values: [first, second].map(of_side), relation })
    }

    /// The ratio of a metric of whole cases; of a cost, only where all cases ended `ok`.
    fn whole_ratio(&self, metric: &Metric, values: &[BTreeMap<u64, f64>; 2]) -> Option<Ratio> {
        if metric.is_cost() { self.ratio_of_costs(values) } else { self.ratio_of(values) }
    }

    /// The ratio of costs of whole cases by seed, the second one's over the first one's: stated only where all cases of the common
    /// seeds ended `ok`.
    pub(crate) fn ratio_of_costs(&self, values: &[BTreeMap<u64, f64>; 2]) -> Option<Ratio> {
        let is_ok = |seed: &&u64| {
            self.all().filter(|case| case.seed() == **seed).all(|case| case.status() == CaseStatus::Ok)
        };
        let (both, of) = (self.seeds.iter().filter(is_ok).count(), self.seeds.len());
        if both < of { Some(Ratio::Missed { both, of, bound: None }) } else { self.ratio_of(values) }
    }

    /// The ratio of values by seed, the second one's over the first one's, of the seeds where both are positive.
    pub(crate) fn ratio_of(&self, values: &[BTreeMap<u64, f64>; 2]) -> Option<Ratio> {
        let logs: Vec<f64> = logs(values).into_values().collect();
        mean_ratio(&logs).map(|estimate| Ratio::Stated { estimate, of: self.seeds.len() })
    }
}

/// The quality that both solvers are held to.
fn common_level([first, second]: &[Costs; 2]) -> Option<Level> {
    first.level.filter(|level| second.level == Some(*level))
}

/// The line of costs to the goal. Means are given where all seeds reached it.
fn line_to_goal(metric: &'static Metric, costs: &[Costs; 2]) -> Option<Line> {
    let [first, second] = costs;
    let mean = |costs: &Costs| {
        let reached = costs.of_reached();
        geometric_estimate(&reached).filter(|_| !costs.has_missed()).map(|found| found.mean)
    };
    let relation = ratio(first, second).map(Relation::Ratio);
    let values = [first, second].map(mean);
    (relation.is_some() || values.iter().any(Option::is_some)).then_some(Line { metric, values, relation })
}

/// Logarithms of the second one's values over the first one's, of the seeds where both are positive.
fn logs([first, second]: &[BTreeMap<u64, f64>; 2]) -> BTreeMap<u64, f64> {
    let of_seed = |(seed, own): (&u64, &f64)| Some((*seed, (second.get(seed)? / own).ln()));
    first.iter().filter_map(of_seed).filter(|(_, log)| log.is_finite()).collect()
}

/// The same for costs of seeds that both solvers reached the goal with.
fn log_ratios(costs: &[Costs; 2]) -> BTreeMap<u64, f64> {
    let reached = |costs: &Costs| -> BTreeMap<u64, f64> {
        let seeds = costs.seeds.iter().filter(|(_, cost)| cost.is_reached);
        seeds.filter_map(|(seed, cost)| Some((*seed, cost.cost?))).collect()
    };
    let [first, second] = costs;
    logs(&[reached(first), reached(second)])
}

/// What is timed until a goal is reached.
fn seconds_to(goal: &Goal<'_>, level: Level) -> String {
    match (goal, level) {
        (Goal::Target(target, _), _) => format!("seconds to {target}"),
        (Goal::Tolerance, Level::Tolerance(tolerance)) => format!("seconds to residual {tolerance}"),
        (Goal::Tolerance, Level::Target) => format!("seconds to {}", goal.words()),
    }
}
