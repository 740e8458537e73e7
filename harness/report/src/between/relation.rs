//! How a number of one side relates to that of the other, seed by seed: a ratio or a difference.

use gpbench_statistics::{Estimate, Interval};
use serde_json::{Value, json};

use crate::number::short;
use crate::ratio::{Bound, Ratio};

/// How a number of the first side relates to that of the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Relation {
    /// The second one's over the first one's.
    Ratio(Ratio),
    /// The first one's less the second one's.
    Difference {
        /// Mean of the differences of pairs.
        estimate: Estimate,
        /// Number of common seeds.
        of: usize,
    },
}

impl Relation {
    /// The relation with a difference the other way round, the second one's less the first one's.
    #[must_use]
    pub(crate) fn second_less_first(self) -> Relation {
        match self {
            Relation::Ratio(_) => self,
            Relation::Difference { estimate, of } => {
                // Zero less zero has no sign.
                let reversed = |of: Interval| Interval { low: 0.0 - of.high, high: 0.0 - of.low };
                let (mean, interval) = (0.0 - estimate.mean, estimate.interval.map(reversed));
                Relation::Difference { estimate: Estimate { mean, interval, ..estimate }, of }
            }
        }
    }

    /// The text of a cell: a ratio as [`Ratio::words`] has it, or a difference with its interval, and the number of seeds where
    /// some have no pair.
    pub(crate) fn words(&self) -> String {
        match self {
            Relation::Ratio(ratio) => ratio.words(),
            Relation::Difference { estimate, of } => difference(estimate, *of),
        }
    }

    /// Members of a JSON object: `ratio` or `difference` with `low`, `high` and `pairs`; where no ratio is stated, `both_reached`,
    /// and `at_least` or `at_most` where a spent budget bounds it.
    pub(crate) fn members(&self) -> Vec<(&'static str, Value)> {
        match self {
            Relation::Ratio(Ratio::Stated { estimate, .. }) => found("ratio", estimate),
            Relation::Difference { estimate, .. } => found("difference", estimate),
            Relation::Ratio(Ratio::Missed { both, bound, .. }) => {
                let bound = bound.map(|bound| match bound {
                    Bound::AtLeast(ratio) => ("at_least", json!(ratio)),
                    Bound::AtMost(ratio) => ("at_most", json!(ratio)),
                });
                [("both_reached", json!(both))].into_iter().chain(bound).collect()
            }
        }
    }
}

/// A difference with its interval, and the number of pairs where some of `of` seeds have none.
pub(crate) fn difference(estimate: &Estimate, of: usize) -> String {
    let interval = estimate.printed().map(|of| format!(" [{}, {}]", short(of.low), short(of.high)));
    let counted = if estimate.count < of { format!(" ({} of {of})", estimate.count) } else { String::new() };
    format!("{}{}{counted}", short(estimate.mean), interval.unwrap_or_default())
}

/// A ratio or a difference as members of a JSON object, with the interval that may be printed of it.
pub(crate) fn found(name: &'static str, estimate: &Estimate) -> Vec<(&'static str, Value)> {
    let interval = estimate.printed();
    let (low, high) = (interval.map(|of| of.low), interval.map(|of| of.high));
    vec![
        (name, json!(estimate.mean)),
        ("low", json!(low)),
        ("high", json!(high)),
        ("pairs", json!(estimate.count)),
    ]
}

#[cfg(test)]
mod tests {
    use gpbench_statistics::{estimate, ratio};

    use super::*;

    #[test]
    fn a_difference_turns_round_with_its_interval_and_a_ratio_stays() {
        let relation = Relation::Difference { estimate: estimate(&[0.02, 0.03, 0.04], 0.0).unwrap(), of: 4 };
        assert_eq!(relation.words(), "0.0300 [0.00516, 0.0548] (3 of 4)");
        assert_eq!(relation.second_less_first().words(), "-0.0300 [-0.0548, -0.00516] (3 of 4)");
        let none = Relation::Difference { estimate: estimate(&[0.0; 3], 0.0).unwrap(), of: 3 };
        let members = none.second_less_first().members();
        let numbers: Vec<String> = members.iter().map(|(_, value)| value.to_string()).collect();
        assert_eq!(numbers, ["0.0", "0.0", "0.0", "3"]);
        let stated = Relation::Ratio(Ratio::Stated { estimate: ratio(&[0.5; 3]).unwrap(), of: 3 });
        assert_eq!(stated.second_less_first(), stated);
    }
}
