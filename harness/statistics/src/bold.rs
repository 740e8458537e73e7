//! Which entries of a table are bold.
//!
//! Every pair of solvers is compared, not each solver with the best one, since the best is chosen from the same data:
//! by that rule, up to two thirds of the columns of equal solvers would set one apart.

use std::collections::BTreeMap;

use crate::estimate::{PRINTED_FROM, mean};
use crate::holm::holm;
use crate::paired::paired_p;

/// Chance that a table of equal solvers sets any of them apart.
const ALPHA: f64 = 0.05;

/// Differences up to this size do not matter, whether or not they are significant.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tolerance {
    /// In the units of the metric; not used for logarithms.
    pub absolute: f64,
    /// As a share of the smaller mean; for logarithms ln(1 + relative).
    pub relative: f64,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub struct Column {
    /// Values by solver and seed, not logarithms. Those of a solver that did not end in all seeds are empty.
    pub values: Vec<BTreeMap<u64, f64>>,
    /// Whether values are compared as logarithms: costs, and errors that span decades.
    pub is_log: bool,
    /// Whether smaller values are better.
    pub lower_is_better: bool,
    /// The metric's tolerance.
    pub smallest: Tolerance,
    /// As in [`crate::estimate()`].
    pub extra_variance: f64,
}

/// A pair of solvers compared in a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedPair {
    /// The column.
    pub column: usize,
    /// The solvers; the difference is that of the first less the second.
    pub solvers: [usize; 2],
    /// Mean difference, of logarithms in a column of logarithms.
    pub mean: f64,
    /// p-value.
    pub p: f64,
    /// p-value adjusted for the number of comparisons of the table.
    pub adjusted: f64,
    /// Whether the difference is significant.
    pub is_rejected: bool,
    /// Size up to which a difference does not matter.
    pub tolerance: f64,
}

impl ComparedPair {
    /// The solver that beats the other: it is better by a significant difference that is larger than the tolerance.
    pub fn winner(&self, lower_is_better: bool) -> Option<usize> {
        let first_is_better = (self.mean < 0.0) == lower_is_better;
        let winner = self.solvers[usize::from(!first_is_better)];
        (self.is_rejected && self.mean.abs() > self.tolerance).then_some(winner)
    }
}

/// The bold entries of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Marks {
    /// By column and solver.
    pub bold: Vec<Vec<bool>>,
    /// Number of comparisons, over which Holm's adjustment is made. None where there are fewer than three seeds.
    pub comparisons: usize,
    /// The comparisons.
    pub pairs: Vec<ComparedPair>,
}

/// Marks the solvers that no other beats, in columns where some solver is beaten. A solver beats another by a
/// two-sided paired t test, at 5 % over all pairs of all columns (Holm 1979), and by more than the metric's
/// tolerance. A pair is compared on the seeds that both have, three or more.
pub fn bold(columns: &[Column]) -> Marks {
    let mut pairs: Vec<ComparedPair> =
        columns.iter().enumerate().flat_map(|(at, column)| compared(at, column)).collect();
    let p: Vec<f64> = pairs.iter().map(|pair| pair.p).collect();
    let holm = holm(&p, ALPHA);
    for ((pair, adjusted), rejected) in pairs.iter_mut().zip(holm.adjusted).zip(holm.rejected) {
        (pair.adjusted, pair.is_rejected) = (adjusted, rejected);
    }
    let bold = columns.iter().enumerate().map(|(at, column)| of_column(at, column, &pairs)).collect();
    Marks { bold, comparisons: pairs.len(), pairs }
}

/// The bold entries of the column at `at`.
fn of_column(at: usize, column: &Column, pairs: &[ComparedPair]) -> Vec<bool> {
    let mut is_compared = vec![false; column.values.len()];
    let mut is_beaten = vec![false; column.values.len()];
    for pair in pairs.iter().filter(|pair| pair.column == at) {
        let winner = pair.winner(column.lower_is_better);
        for solver in pair.solvers {
            is_compared[solver] = true;
            is_beaten[solver] |= winner.is_some_and(|winner| winner != solver);
        }
    }
    let any = is_beaten.contains(&true);
    is_compared.iter().zip(&is_beaten).map(|(compared, beaten)| any && *compared && !beaten).collect()
}

/// The comparisons of a column, before they are adjusted.
fn compared(at: usize, column: &Column) -> Vec<ComparedPair> {
    let solvers = column.values.len();
    let pairs = (0..solvers).flat_map(|first| (first + 1..solvers).map(move |second| [first, second]));
    pairs.filter_map(|pair| comparison(at, column, pair)).collect()
}

/// A pair of solvers on the seeds that both have; `None` where these are fewer than three.
fn comparison(at: usize, column: &Column, solvers: [usize; 2]) -> Option<ComparedPair> {
    let [first, second] = solvers.map(|solver| &column.values[solver]);
    let usable = |value: f64| value.is_finite() && (!column.is_log || value > 0.0);
    let common = first.iter().filter_map(|(seed, a)| Some((*a, *second.get(seed)?)));
    let common: Vec<(f64, f64)> = common.filter(|(a, b)| usable(*a) && usable(*b)).collect();
    if common.len() < PRINTED_FROM {
        return None;
    }
    let difference = |&(a, b): &(f64, f64)| if column.is_log { (a / b).ln() } else { a - b };
    let differences: Vec<f64> = common.iter().map(difference).collect();
    let (of_first, of_second): (Vec<f64>, Vec<f64>) = common.into_iter().unzip();
    let size = |values: &[f64]| values.iter().map(|value| value.abs()).sum::<f64>() / values.len() as f64;
    let scale = if column.is_log { 1.0 } else { 0.5 * (size(&of_first) + size(&of_second)) };
    Some(ComparedPair {
        column: at,
        solvers,
        mean: mean(&differences)?,
        p: paired_p(&differences, column.extra_variance, scale),
        adjusted: 1.0,
        is_rejected: false,
        tolerance: tolerance(column, mean(&of_first)?, mean(&of_second)?),
    })
}

/// Size up to which a difference does not matter, with the means of both solvers.
fn tolerance(column: &Column, first: f64, second: f64) -> f64 {
    let Tolerance { absolute, relative } = column.smallest;
    if column.is_log { relative.ln_1p() } else { absolute.max(relative * first.abs().min(second.abs())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[&[f64]]) -> Column {
        let by_seed = |values: &&[f64]| (0..).zip(values.iter().copied()).collect();
        Column {
            values: values.iter().map(by_seed).collect(),
            is_log: false,
            lower_is_better: true,
            smallest: Tolerance { absolute: 1e-4, relative: 0.0 },
            extra_variance: 0.0,
        }
    }

    #[test]
    fn incomplete_solvers_and_columns_in_which_nobody_is_beaten_have_no_bold() {
        let better = [1.0, 2.0, 3.0, 4.0, 5.0];
        let worse = better.map(|value| value + 1.0);
        assert_eq!(bold(&[column(&[&better, &worse])]).bold, [[true, false]]);
        assert_eq!(bold(&[column(&[&better, &[], &worse])]).bold, [[true, false, false]]);
        assert_eq!(bold(&[column(&[&better, &better])]).bold, [[false, false]]);
        // Significant, but within the tolerance.
        let close = better.map(|value| value + 1e-5);
        assert_eq!(bold(&[column(&[&better, &close])]).bold, [[false, false]]);
        let higher = Column { lower_is_better: false, ..column(&[&better, &worse]) };
        assert_eq!(bold(&[higher]).bold, [[false, true]]);
    }

    #[test]
    fn fewer_than_three_seeds_are_not_compared() {
        let marks = bold(&[column(&[&[1.0, 1.1], &[5.0, 5.1]])]);
        assert_eq!((marks.comparisons, marks.bold), (0, vec![vec![false, false]]));
        // Two of the four seeds cannot be logged.
        let mut logs = column(&[&[1.0, 1.0, 0.0, -1.0], &[5.0, 5.1, 5.2, 5.3]]);
        logs.is_log = true;
        assert_eq!(bold(&[logs]).comparisons, 0);
    }

    #[test]
    fn all_columns_share_one_adjustment() {
        let (a, b): ([f64; 3], [f64; 3]) = ([1.0, 2.0, 3.0], [2.0, 3.1, 3.9]);
        let one = bold(&[column(&[&a, &b])]);
        let two = bold(&[column(&[&a, &b]), column(&[&a, &a])]);
        assert_eq!((one.comparisons, two.comparisons), (1, 2));
        assert!((two.pairs[0].adjusted - 2.0 * one.pairs[0].p).abs() < 1e-15);
    }
}
