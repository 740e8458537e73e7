//! Two solvers over several data sets: a claim about those that were run, and one about data sets like them.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_statistics::{Estimate, over_such_datasets, over_these_datasets, widened};

use super::pair::Speed;
use super::words;
use crate::pairs::mean;
use crate::ratio::Ratio;

/// The ratios over several data sets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Claims {
    /// Number of data sets.
    pub(super) datasets: usize,
    /// On the data sets that were run; the interval is that of other seeds.
    pub(super) these: Estimate,
    /// On data sets like these; `None` below three.
    pub(super) such: Option<Estimate>,
}

/// Fewest data sets that say anything about others.
const FEWEST: usize = 3;

/// What can be said over the data sets.
pub(super) enum OverDatasets<'a> {
    /// There is one data set, or no data set has a ratio.
    Nothing,
    /// These have no ratio.
    Incomplete(Vec<&'a str>),
    /// All have one.
    Complete(Claims),
}

/// The ratios of a data set, over its kernels and estimators.
struct OfDataset {
    /// Logarithms by seed.
    logs: Vec<f64>,
    brackets: Option<[f64; 2]>,
}

impl<'a> OverDatasets<'a> {
    /// The claims from the speeds on the problems of each data set.
    pub(super) fn of(datasets: &[(&'a str, Vec<Option<&Speed>>)]) -> OverDatasets<'a> {
        let each: Vec<(&str, Option<OfDataset>)> =
            datasets.iter().map(|(name, speeds)| (*name, OfDataset::of(speeds))).collect();
        let missing: Vec<&str> = each.iter().filter(|(_, of)| of.is_none()).map(|(name, _)| *name).collect();
        if datasets.len() < 2 || missing.len() == datasets.len() {
            return OverDatasets::Nothing;
        }
        if !missing.is_empty() {
            return OverDatasets::Incomplete(missing);
        }
        let all: Vec<OfDataset> = each.into_iter().filter_map(|(_, of)| of).collect();
        let logs: Vec<Vec<f64>> = all.iter().map(|of| of.logs.clone()).collect();
        let brackets = mean_brackets(all.iter().map(|of| of.brackets));
        let wide = |estimate: Estimate| match brackets {
            Some([own, other]) => widened(estimate, own, other),
            None => Estimate { interval: None, ..estimate },
        };
        match over_these_datasets(&logs) {
            Some(these) => OverDatasets::Complete(Claims {
                datasets: all.len(),
                these: wide(these),
                such: over_such_datasets(&logs).filter(|_| all.len() >= FEWEST).map(wide),
            }),
            None => OverDatasets::Nothing,
        }
    }

    /// The claims, where all data sets have a ratio.
    pub(super) fn claims(self) -> Option<Claims> {
        if let OverDatasets::Complete(claims) = self { Some(claims) } else { None }
    }

    /// The claims in words.
    pub(super) fn sentences(&self, names: [&str; 2]) -> Vec<String> {
        match self {
            OverDatasets::Nothing => Vec::new(),
            OverDatasets::Incomplete(missing) => vec![words::incomplete(names, missing)],
            OverDatasets::Complete(Claims { datasets, these, such }) => vec![
                words::on_these(names, *datasets, these),
                such.as_ref()
                    .map_or_else(|| words::on_too_few(*datasets), |such| words::on_such(names, such)),
            ],
        }
    }
}

impl OfDataset {
    /// The mean over the problems of a data set, seed by seed; `None` where a problem has no ratio, or no seed is common to all.
    fn of(speeds: &[Option<&Speed>]) -> Option<OfDataset> {
        let is_stated = |speed: &&Speed| matches!(speed.ratio, Ratio::Stated { .. });
        let speeds = speeds.iter().map(|speed| speed.filter(is_stated)).collect::<Option<Vec<&Speed>>>()?;
        let seeds = |logs: &BTreeMap<u64, f64>| logs.keys().copied().collect::<BTreeSet<u64>>();
        let common = speeds.iter().map(|speed| seeds(&speed.logs)).reduce(|some, others| &some & &others)?;
        let logs = common.iter().filter_map(|seed| mean(speeds.iter().map(|speed| speed.logs[seed])));
        let logs: Vec<f64> = logs.collect();
        let brackets = mean_brackets(speeds.iter().map(|speed| speed.brackets));
        (!logs.is_empty()).then_some(OfDataset { logs, brackets })
    }
}

/// The mean distances between evaluations; `None` where one is not known.
fn mean_brackets(all: impl Iterator<Item = Option<[f64; 2]>>) -> Option<[f64; 2]> {
    let all: Vec<[f64; 2]> = all.collect::<Option<Vec<[f64; 2]>>>()?;
    let of = |side: usize| mean(all.iter().map(|brackets| brackets[side]));
    Some([of(0)?, of(1)?])
}

#[cfg(test)]
mod tests {
    use gpbench_statistics::ratio;

    use super::*;

    /// A speed with these ratios of seeds 0, 1, ...
    fn speed(ratios: &[f64]) -> Speed {
        let logs: BTreeMap<u64, f64> = (0..).zip(ratios.iter().map(|ratio| ratio.ln())).collect();
        let estimate = ratio(&logs.values().copied().collect::<Vec<f64>>()).unwrap();
        let stated = Ratio::Stated { estimate, of: ratios.len() };
        Speed { ratio: stated, what: "seconds".into(), logs, brackets: Some([0.0; 2]) }
    }

    fn missed() -> Speed {
        Speed { ratio: Ratio::Missed { both: 2, of: 3, bound: None }, ..speed(&[2.0, 2.0, 2.0]) }
    }

    #[test]
    fn kernels_of_a_data_set_are_averaged_first() {
        let (fast, slow) = (speed(&[4.0, 4.4, 4.2]), speed(&[1.0, 1.1, 1.05]));
        let once = speed(&[2.0, 2.2, 2.1]);
        let two = [("a", vec![Some(&fast), Some(&slow)]), ("b", vec![Some(&once)])];
        let averaged = OverDatasets::of(&two).claims().unwrap();
        let same = OverDatasets::of(&[("a", vec![Some(&once)]), ("b", vec![Some(&once)])]).claims().unwrap();
        assert!((averaged.these.mean - same.these.mean).abs() < 1e-12);
        assert!(averaged.these.interval.is_some() && averaged.such.is_none());
    }

    #[test]
    fn a_claim_takes_all_data_sets() {
        let (good, bad) = (speed(&[2.0, 2.1, 2.2]), missed());
        assert!(OverDatasets::of(&[("a", vec![Some(&good)])]).sentences(["x", "y"]).is_empty());
        let some = OverDatasets::of(&[("a", vec![Some(&good)]), ("b", vec![Some(&good), Some(&bad)])]);
        assert!(some.sentences(["x", "y"])[0].ends_with("there is none on b."));
        assert!(
            OverDatasets::of(&[("a", vec![None]), ("b", vec![Some(&bad)])]).sentences(["x", "y"]).is_empty()
        );
    }

    #[test]
    fn three_data_sets_say_something_of_others() {
        let each = [speed(&[2.0, 2.1, 2.2]), speed(&[3.0, 3.1, 3.2]), speed(&[2.5, 2.6, 2.7])];
        let datasets: Vec<(&str, Vec<Option<&Speed>>)> =
            ["a", "b", "c"].into_iter().zip(&each).map(|(name, speed)| (name, vec![Some(speed)])).collect();
        let over = OverDatasets::of(&datasets);
        assert_eq!(over.sentences(["x", "y"]).len(), 2);
        let claims = over.claims().unwrap();
        let (these, such) = (claims.these.interval.unwrap(), claims.such.unwrap().interval.unwrap());
        assert!(such.high - such.low > 2.0 * (these.high - these.low), "{these:?} {such:?}");
        // Times to a target include the distance between evaluations.
        let coarse: Vec<Speed> = each
            .iter()
            .map(|speed| Speed {
                brackets: Some([0.1, 0.2]),
                logs: speed.logs.clone(),
                what: String::new(),
                ratio: speed.ratio,
            })
            .collect();
        let datasets: Vec<(&str, Vec<Option<&Speed>>)> =
            ["a", "b", "c"].into_iter().zip(&coarse).map(|(name, speed)| (name, vec![Some(speed)])).collect();
        let wide = OverDatasets::of(&datasets).claims().unwrap().these.interval.unwrap();
        assert!((wide.low / these.low - (-0.2_f64).exp()).abs() < 1e-12, "{wide:?}");
        assert!((wide.high / these.high - 0.1_f64.exp()).abs() < 1e-12, "{wide:?}");
    }
}
