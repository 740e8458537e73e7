//! How many times as fast one solver is as another: stated only where both reach the goal with every common seed.
//!
//! The seeds that both reach are no substitute for all: where a solver fails on hard seeds, the ratio over the others
//! favours it.

use gpbench_statistics::{Estimate, ratio as mean_ratio, widened};

use crate::costs::{Costs, Level, SeedCost};
use crate::number::ratio as two_digits;

/// How many times the cost of one solver is that of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ratio {
    /// Both reached the goal with all common seeds; the estimate is over those whose costs are known.
    Stated {
        /// Geometric mean of the ratios of pairs.
        estimate: Estimate,
        /// Number of seeds of the solver that has more of them.
        of: usize,
    },
    /// Some common seed missed the goal.
    Missed {
        /// Number of common seeds with which both reached the goal.
        both: usize,
        /// Number of common seeds.
        of: usize,
        /// What the spent budget of the solver that missed tells of the ratio.
        bound: Option<Bound>,
    },
}

/// A one-sided bound of a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound {
    /// The slower solver spent its budget.
    AtLeast(f64),
    /// The faster solver spent its budget.
    AtMost(f64),
}

/// How many times as fast a solver is as another: the cost of `over` over that of `of`, on common seeds. `None` where they are
/// held to no common goal, have no common seed, or have costs that are not known.
pub(crate) fn ratio(of: &Costs, over: &Costs) -> Option<Ratio> {
    of.level.filter(|level| over.level == Some(*level))?;
    let common: Vec<(u64, [&SeedCost; 2])> =
        of.seeds.iter().filter_map(|(seed, own)| Some((*seed, [own, over.seeds.get(seed)?]))).collect();
    let has_cost = common.iter().flat_map(|(_, pair)| pair).any(|cost| cost.cost.is_some());
    if !has_cost {
        return None;
    }
    let both = common.iter().filter(|(_, pair)| pair.iter().all(|cost| cost.is_reached)).count();
    if both < common.len() {
        return Some(Ratio::Missed { both, of: common.len(), bound: bound(&common) });
    }
    let known: Vec<(u64, f64)> =
        common.iter().filter_map(|(seed, pair)| Some((*seed, log_ratio(pair)?))).collect();
    let logs: Vec<f64> = known.iter().map(|(_, log)| *log).collect();
    let estimate = mean_ratio(&logs)?;
    let seeds = || known.iter().map(|(seed, _)| seed);
    let estimate = match of.level {
        Some(Level::Target) => match (of.bracket(seeds()), over.bracket(seeds())) {
            (Some(of_own), Some(of_other)) => widened(estimate, of_own, of_other),
            _ => Estimate { interval: None, ..estimate },
        },
        _ => estimate,
    };
    Some(Ratio::Stated { estimate, of: of.seeds.len().max(over.seeds.len()) })
}

/// The logarithm of the ratio of a pair; `None` where a cost is not known or has no logarithm.
fn log_ratio(pair: &[&SeedCost; 2]) -> Option<f64> {
    let [own, other] = pair.map(|cost| cost.cost.filter(|cost| *cost > 0.0));
    Some((other? / own?).ln())
}

/// The bound from the costs of all common seeds, where the budget ended every case of one solver that missed the goal, and the
/// other solver missed none.
fn bound(common: &[(u64, [&SeedCost; 2])]) -> Option<Bound> {
    let ended = |solver: usize| {
        common.iter().all(|(_, pair)| pair[solver].is_reached || pair[solver].is_budget_spent)
    };
    let reached = |solver: usize| common.iter().all(|(_, pair)| pair[solver].is_reached);
    let (own, other) = (0, 1);
    let bound: fn(f64) -> Bound = if reached(own) && ended(other) {
        Bound::AtLeast
    } else if reached(other) && ended(own) {
        Bound::AtMost
    } else {
        return None;
    };
    let logs: Vec<f64> = common.iter().map(|(_, pair)| log_ratio(pair)).collect::<Option<Vec<f64>>>()?;
    mean_ratio(&logs).map(|found| bound(found.mean))
}

impl Ratio {
    /// The text of a cell: `2.9× [2.7, 3.2]`, `2.9× [2.7, 3.2] (4 of 5)` where some seed is left out, `4/5`, or `≥ 0.70× (4/5)`.
    pub(crate) fn words(&self) -> String {
        match self {
            Ratio::Stated { estimate, of } => {
                let counted = if estimate.count < *of {
                    format!(" ({} of {of})", estimate.count)
                } else {
                    String::new()
                };
                format!("{}{counted}", estimated(estimate))
            }
            Ratio::Missed { both, of, bound: None } => format!("{both}/{of}"),
            Ratio::Missed { both, of, bound: Some(Bound::AtLeast(ratio)) } => {
                format!("≥ {}× ({both}/{of})", two_digits(*ratio))
            }
            Ratio::Missed { both, of, bound: Some(Bound::AtMost(ratio)) } => {
                format!("≤ {}× ({both}/{of})", two_digits(*ratio))
            }
        }
    }
}

/// A ratio with its interval, where there are seeds enough to print it: `2.9× [2.7, 3.2]`.
fn estimated(estimate: &Estimate) -> String {
    let ratio = format!("{}×", two_digits(estimate.mean));
    match estimate.printed() {
        Some(interval) => format!("{ratio} [{}, {}]", two_digits(interval.low), two_digits(interval.high)),
        None => ratio,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(costs: &[f64]) -> Costs {
        Costs::of_seeds(&costs.iter().map(|cost| SeedCost::reached(*cost, *cost)).collect::<Vec<_>>())
    }

    fn words(of: &Costs, over: &Costs) -> Option<String> {
        ratio(of, over).map(|found| found.words())
    }

    const FAST: [f64; 5] = [2.1, 3.35, 1.61, 5.05, 2.75];
    const SLOW: [f64; 5] = [6.3, 9.1, 5.02, 14.0, 8.6];

    #[test]
    fn a_ratio_has_its_interval_from_three_seeds_on() {
        let of = |count: usize| words(&reached(&FAST[..count]), &reached(&SLOW[..count])).unwrap();
        assert_eq!(of(5), "2.9× [2.7, 3.2]");
        assert_eq!(of(3), "2.9× [2.5, 3.5]");
        assert_eq!((of(2), of(1)), ("2.9×".to_owned(), "3.0×".to_owned()));
        // The ratio the other way is its inverse, ends included.
        assert_eq!(words(&reached(&SLOW), &reached(&FAST)).unwrap(), "0.34× [0.31, 0.37]");
    }

    #[test]
    fn a_missed_seed_leaves_a_mark_or_a_bound() {
        let mut seeds = FAST.map(|cost| SeedCost::reached(cost, cost));
        seeds[2] = SeedCost::crashed();
        let crashing = Costs::of_seeds(&seeds);
        assert_eq!(words(&crashing, &reached(&SLOW)).unwrap(), "4/5");
        assert_eq!(words(&reached(&SLOW), &crashing).unwrap(), "4/5");
        seeds[2] = SeedCost::spent(60.0);
        let spent = Costs::of_seeds(&seeds);
        assert_eq!(words(&reached(&SLOW), &spent).unwrap(), "≥ 0.70× (4/5)");
        assert_eq!(words(&spent, &reached(&SLOW)).unwrap(), "≤ 1.4× (4/5)");
        // Both missed something: no bound.
        assert_eq!(words(&spent, &spent).unwrap(), "4/5");
    }

    #[test]
    fn only_common_seeds_and_known_costs_count() {
        let shorter = reached(&SLOW[..4]);
        let of_four = words(&reached(&FAST[..4]), &shorter).unwrap();
        assert_eq!(words(&reached(&FAST), &shorter).unwrap(), format!("{of_four} (4 of 5)"));
        assert_eq!(words(&shorter, &reached(&FAST[..2])).unwrap(), "0.35× (2 of 4)");
        let mut zero = FAST;
        zero[0] = 0.0;
        assert!(words(&reached(&zero), &reached(&SLOW)).unwrap().ends_with("] (4 of 5)"));
        let untold = Costs { level: None, ..reached(&FAST) };
        assert_eq!((words(&untold, &reached(&SLOW)), words(&reached(&SLOW), &untold)), (None, None));
        let looser = Costs { level: Some(Level::Tolerance(0.1)), ..reached(&FAST) };
        assert_eq!(words(&looser, &reached(&SLOW)), None);
        assert_eq!(words(&reached(&[]), &reached(&SLOW)), None);
    }

    #[test]
    fn the_distance_between_evaluations_widens_the_interval_of_a_target() {
        let to_target = |ends: &[(f64, f64)]| {
            let seeds: Vec<SeedCost> =
                ends.iter().map(|(hit, before)| SeedCost::reached(*hit, *before)).collect();
            Costs { level: Some(Level::Target), ..Costs::of_seeds(&seeds) }
        };
        let fast = to_target(&[(1.0, 0.79), (1.26, 1.0), (1.26, 1.0)]);
        let slow = to_target(&[(2.51, 2.0), (3.16, 2.51), (3.16, 2.51)]);
        assert_eq!(words(&fast, &slow).unwrap(), "2.5× [2.0, 3.2]");
        // An evaluation at once may have come at any time after the start.
        let at_once = to_target(&[(1.0, 0.0), (1.26, 0.0), (1.26, 0.0)]);
        assert_eq!(words(&at_once, &slow).unwrap(), "2.5×");
    }
}
