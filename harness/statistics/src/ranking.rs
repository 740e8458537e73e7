//! A ranking of solvers over data sets.
//!
//! Ranks and ratios to the best depend on which other solvers took part; a ratio to a named reference does not. There
//! is no critical-difference diagram, in which the result for two solvers would depend on the others (Benavoli,
//! Corani and Mangili 2016).

use crate::estimate::{Estimate, estimate, ratio};

/// Fewest data sets for which intervals are printed.
pub const INTERVALS_FROM: usize = 5;

/// Fewest data sets for which a solver may be said to rank first.
pub const FIRST_FROM: usize = 12;

/// A solver's place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Mean rank over data sets, with an interval cut to what is possible.
    pub mean_rank: Estimate,
    /// Number of data sets with a cost.
    pub solved: usize,
    /// Geometric mean of the ratios of its cost to the least cost of any solver; `None` unless it has all costs.
    pub to_best: Option<Estimate>,
    /// Geometric mean of the ratios of its cost to the reference's; `None` unless both have all costs.
    pub over_reference: Option<Estimate>,
}

/// The ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The solvers, in the order of their costs.
    pub solvers: Vec<Ranked>,
    /// Ranks by data set and solver, from 1. Solvers without a cost share the last ranks.
    pub ranks: Vec<Vec<f64>>,
}

impl Ranking {
    /// The solver of which it may be said that it ranks first: over twelve data sets or more, it alone has the least
    /// mean rank, and the interval of its ratio to the reference excludes 1. The reference itself ranks first if
    /// those of all others do.
    pub fn first(&self, reference: Option<usize>) -> Option<usize> {
        let least = self.solvers.iter().map(|of| of.mean_rank.mean).fold(f64::INFINITY, f64::min);
        let mut best = (0..self.solvers.len()).filter(|at| self.solvers[*at].mean_rank.mean <= least);
        let (first, None) = (best.next()?, best.next()) else { return None };
        let interval = |at: usize| self.solvers[at].over_reference.and_then(|ratio| ratio.interval);
        let is_clear = if Some(first) == reference {
            (0..self.solvers.len())
                .filter(|at| *at != first)
                .all(|at| interval(at).is_none_or(|of| of.low > 1.0))
        } else {
            interval(first).is_some_and(|of| of.high < 1.0)
        };
        (self.ranks.len() >= FIRST_FROM && is_clear && reference.is_some()).then_some(first)
    }
}

/// The ranking of solvers by their costs, by data set and solver: each the geometric mean over the seeds and kernels
/// of a data set, or `None` where the solver failed or is incomplete. `None` without data sets or solvers.
pub fn ranking(costs: &[Vec<Option<f64>>], reference: Option<usize>) -> Option<Ranking> {
    let count = costs.first()?.len();
    let ranks: Vec<Vec<f64>> = costs.iter().map(|costs| ranks(costs)).collect();
    let of_solver = |solver: usize| {
        let mean_rank: Vec<f64> = ranks.iter().map(|ranks| ranks[solver]).collect();
        let over = |other: &dyn Fn(&[Option<f64>]) -> Option<f64>| {
            let log = |costs: &Vec<Option<f64>>| Some((usable(costs[solver])? / other(costs)?).ln());
            ratio(&costs.iter().map(log).collect::<Option<Vec<f64>>>()?)
        };
        Some(Ranked {
            mean_rank: estimate(&mean_rank, 0.0)?.within(1.0, count as f64),
            solved: costs.iter().filter(|costs| usable(costs[solver]).is_some()).count(),
            to_best: over(&best).map(|ratio| ratio.within(1.0, f64::INFINITY)),
            over_reference: over(&|costs| usable(costs[reference?])),
        })
    };
    let solvers: Option<Vec<Ranked>> = (0..count).map(of_solver).collect();
    Some(Ranking { solvers: solvers.filter(|solvers| !solvers.is_empty())?, ranks })
}

/// The least cost of any solver.
fn best(costs: &[Option<f64>]) -> Option<f64> {
    costs.iter().filter_map(|cost| usable(*cost)).min_by(f64::total_cmp)
}

/// A cost of which the logarithm exists.
fn usable(cost: Option<f64>) -> Option<f64> {
    cost.filter(|cost| cost.is_finite() && *cost > 0.0)
}

/// Ranks from 1; equal costs share the mean of their ranks, and so do solvers without a cost, after all others.
fn ranks(costs: &[Option<f64>]) -> Vec<f64> {
    let costs: Vec<f64> = costs.iter().map(|cost| usable(*cost).unwrap_or(f64::INFINITY)).collect();
    let rank = |cost: &f64| {
        let below = costs.iter().filter(|other| *other < cost).count();
        let equal = costs.iter().filter(|other| *other == cost).count();
        below as f64 + 0.5 * (equal + 1) as f64
    };
    costs.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data sets on which the first of two solvers costs 1 and the second `factor`, a little more each time.
    fn costs(datasets: usize, factor: f64) -> Vec<Vec<Option<f64>>> {
        (0..datasets).map(|at| vec![Some(1.0), Some(factor * (1.0 + 0.01 * at as f64))]).collect()
    }

    #[test]
    fn few_data_sets_rank_nobody_first() {
        let first = |datasets: usize, factor: f64, reference: Option<usize>| {
            ranking(&costs(datasets, factor), reference).unwrap().first(reference)
        };
        assert_eq!(first(11, 2.0, Some(1)), None);
        assert_eq!(first(12, 2.0, Some(1)), Some(0));
        assert_eq!(first(12, 2.0, Some(0)), Some(0));
        assert_eq!(first(12, 0.95, Some(0)), None);
        assert_eq!(first(12, 2.0, None), None);
    }

    #[test]
    fn failures_share_the_last_ranks() {
        assert_eq!(ranks(&[None, Some(2.0), Some(0.0), Some(1.0)]), [3.5, 2.0, 3.5, 1.0]);
        assert!(ranking(&[], None).is_none() && ranking(&[vec![]], None).is_none());
    }
}
