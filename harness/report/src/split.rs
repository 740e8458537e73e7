//! How the seeds of some cases share their data, on which the variance of a mean over seeds depends.
//!
//! Seed k also selects split k of a file. Splits of one file overlap, so metrics of their test rows are not independent: the
//! variance of their mean is s² (1/S + n_test/n_train), not s²/S (Nadeau and Bengio 2003). Splits by a rule share training rows
//! too, and have the same correction.

use std::collections::BTreeSet;

use gpbench_record::metric::Metric;
use gpbench_record::{Dataset, SplitRule};

use crate::frame::CaseView;
use crate::number::short;

/// How the seeds of some cases share their data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Split {
    /// Each seed draws data of its own.
    Drawn,
    /// All seeds have one split, so that means say nothing of other splits.
    Fixed,
    /// Each seed has a split of the same rows, with this ratio of test rows to training rows.
    BySeed(f64),
}

/// Share of the rows that a split has for testing, where the spec gives no shares: splits of files are drawn so, and those of
/// the registry are folds of a tenth.
const TEST_SHARE: f64 = 0.1;

impl Split {
    /// How the seeds of these cases, all of one data set, share their data.
    pub(crate) fn of<'f>(cases: impl Iterator<Item = CaseView<'f>>) -> Split {
        let (mut seeds, mut splits, mut first) = (BTreeSet::new(), BTreeSet::new(), None);
        for case in cases {
            let dataset = &case.case().dataset;
            seeds.insert(case.seed());
            splits.insert(dataset.split);
            first.get_or_insert(dataset);
        }
        match first {
            Some(dataset) if !dataset.source.is_drawn() => match splits.len() {
                1 if seeds.len() > 1 => Split::Fixed,
                _ => Split::BySeed(test_over_training(dataset, &splits)),
            },
            _ => Split::Drawn,
        }
    }

    /// The part of the variance of a metric's mean, over that of its values, that does not fall with the number of seeds.
    pub(crate) fn extra_variance(self, metric: &Metric) -> f64 {
        match self {
            Split::BySeed(ratio) if metric.is_of_test_rows() => ratio,
            _ => 0.0,
        }
    }

    /// The sentence of a caption about metrics of test rows; none where seeds are independent.
    pub(crate) fn sentence(self) -> Option<String> {
        match self {
            Split::Drawn => None,
            Split::Fixed => Some("Means of test-row metrics are given this split.".to_owned()),
            Split::BySeed(ratio) => Some(format!(
                "Splits of different seeds overlap, so tests and intervals (not ±) take s² (1/S + {}) as the variance \
                 of a mean of test-row metrics, the last being n_test/n_train.",
                short(ratio)
            )),
        }
    }
}

/// Ratio of test rows to training rows of a data set's splits, before a subsample is taken: seeds draw subsamples of their own.
fn test_over_training(dataset: &Dataset, splits: &BTreeSet<u32>) -> f64 {
    // Validation rows are a share of all rows, taken from the training rows.
    let ratio = |test: f64| test / (1.0 - test - dataset.validation.unwrap_or(0.0));
    match (&dataset.rule, dataset.fractions) {
        (Some(SplitRule::Blocks { blocks, .. }), _) => ratio(1.0 / *blocks as f64),
        // There are at least as many groups; with fewer of them, the variance would be larger.
        (Some(SplitRule::LeaveGroupOut), _) => ratio(1.0 / splits.len().max(2) as f64),
        // Split k trains on k + 1 blocks and tests on one.
        (Some(SplitRule::Rolling { .. }), _) => {
            splits.iter().map(|split| 1.0 / f64::from(split + 1)).sum::<f64>() / splits.len() as f64
        }
        (Some(SplitRule::Future { test, .. }), _) => ratio(*test),
        (None, Some(fractions)) => fractions.test / fractions.train,
        (None, None) => ratio(TEST_SHARE),
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::{Fractions, Row, Source, metric, names, testing};
    use gpbench_runs::RunRecord;

    use super::*;
    use crate::frame::{Cases, Frame};
    use crate::run::Run;

    /// The split of cases with seeds and splits, of a data set that `change` makes from a registered one.
    fn split(seeds_and_splits: &[(u64, u32)], change: impl Fn(&mut Dataset)) -> Split {
        let row = |&(seed, split): &(u64, u32)| -> Row {
            let mut case = testing::case("cg");
            case.dataset = Dataset { split, ..Dataset::new("pol", Source::Registry { name: "pol".into() }) };
            case.seed = seed;
            change(&mut case.dataset);
            testing::row(case, &[])
        };
        let rows = seeds_and_splits.iter().map(row).collect();
        let run = Run { record: RunRecord { rows, ..RunRecord::default() }, warnings: Vec::new() };
        let frame = Frame::new(&run).unwrap();
        Split::of(Cases::of(&frame).iter())
    }

    #[test]
    fn only_test_rows_of_splits_by_seed_have_a_part_that_more_seeds_leave() {
        let by_seed = split(&[(0, 0), (1, 1)], |_| ());
        let extra = |split: Split, name: &str| split.extra_variance(metric::find(name).unwrap());
        assert!((extra(by_seed, names::TEST_RMSE) - 1.0 / 9.0).abs() < 1e-12, "{by_seed:?}");
        assert!(extra(by_seed, names::RMSE_TO_EXACT) > 0.1);
        for name in [names::SECONDS, names::EPOCHS, names::RESIDUAL_Y, names::PEAK_MEMORY_BYTES] {
            assert_eq!(extra(by_seed, name), 0.0, "{name}");
        }
        assert!(by_seed.sentence().unwrap().contains("(1/S + 0.111)"));
        let fixed = split(&[(0, 3), (1, 3)], |_| ());
        assert_eq!((fixed, extra(fixed, names::TEST_RMSE)), (Split::Fixed, 0.0));
        assert!(fixed.sentence().unwrap().contains("given this split"));
        // One seed has no spread, whatever its split.
        assert!(matches!(split(&[(0, 0)], |_| ()), Split::BySeed(_)));
    }

    #[test]
    fn shares_of_the_spec_decide_the_ratio() {
        let shares = split(&[(0, 0), (1, 1)], |dataset| {
            dataset.fractions = Some(Fractions { train: 0.64, test: 0.16 });
        });
        assert_eq!(shares, Split::BySeed(0.25));
        let validated = split(&[(0, 0), (1, 1)], |dataset| dataset.validation = Some(0.1));
        assert_eq!(validated, Split::BySeed(0.125));
    }

    #[test]
    fn rules_have_ratios_of_their_own() {
        let by_rule = |seeds: &[(u64, u32)], rule: SplitRule| match split(seeds, |dataset| {
            dataset.rule = Some(rule.clone())
        }) {
            Split::BySeed(ratio) => ratio,
            other => panic!("{other:?}"),
        };
        let columns = || vec!["lon".to_owned()];
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        near(by_rule(&[(0, 0), (1, 1)], SplitRule::Blocks { blocks: 5, by: columns() }), 0.25);
        near(by_rule(&[(0, 0), (1, 1), (2, 2)], SplitRule::LeaveGroupOut), 0.5);
        near(by_rule(&[(0, 0), (1, 1)], SplitRule::Rolling { time: "t".into(), blocks: 5 }), 0.75);
        let future = SplitRule::Future { time: "t".into(), test: 0.2 };
        assert_eq!(split(&[(0, 0), (1, 0)], |dataset| dataset.rule = Some(future.clone())), Split::Fixed);
    }

    #[test]
    fn drawn_data_are_new_with_each_seed() {
        let drawn = split(&[(0, 0), (1, 0)], |dataset| {
            dataset.source = Source::Toy { name: "toy-sine".into(), n: 20, n_test: 5 };
        });
        assert_eq!((drawn, drawn.sentence()), (Split::Drawn, None));
    }
}
