//! Numbers computed seed by seed, of the cases of published runs.
//!
//! Both sides have the same data and random numbers with a seed, so differences and ratios of pairs vary less than the
//! values themselves, and their intervals are narrower than those of independent sides. There are no pairs where a
//! folder keeps a summary alone, or where two runs have different data with a seed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gpbench_record::Dataset;
use gpbench_record::metric::Metric;
use gpbench_statistics::{Estimate, estimate};

use super::list::Compute;
use crate::between::Pair;
use crate::coverage::run_without_journal;
use crate::error::Result;
use crate::frame::{CaseView, Cases, Frame};
use crate::pairs::{by_seed, differences};
use crate::problem::GroupProblem;
use crate::run::Run;
use crate::split::Split;

/// Cases of one solver on one problem, with the metric that is computed of them.
#[derive(Clone)]
pub(super) struct Side<'f> {
    pub(super) cases: Vec<CaseView<'f>>,
    pub(super) metric: &'static Metric,
}

/// Those of the runs with these names whose folders keep each case, in a journal or else in a table of results.
///
/// # Errors
/// If a file of such a run cannot be read.
pub(super) fn runs(published: &Path, names: &BTreeSet<&str>) -> Result<BTreeMap<String, Run>> {
    let mut all = BTreeMap::new();
    for name in names {
        let folder = published.join(name);
        let run = if folder.join("journal.jsonl").is_file() {
            Run::open(&folder)?
        } else if folder.join("results.parquet").is_file() {
            run_without_journal(&folder)?
        } else {
            continue;
        };
        all.insert((*name).to_owned(), run);
    }
    Ok(all)
}

/// The tables of some runs.
///
/// # Errors
/// If a table cannot be built.
pub(super) fn frames(runs: &BTreeMap<String, Run>) -> Result<BTreeMap<&str, Frame<'_>>> {
    runs.iter().map(|(name, run)| Ok((name.as_str(), Frame::new(run)?))).collect()
}

/// The cases of a solver on a problem, with the times that `summary.json` is made of.
pub(super) fn cases<'f>(frame: &'f Frame<'f>, problem: &GroupProblem, solver: &str) -> Vec<CaseView<'f>> {
    let all = Cases::of(frame).with_times_of_one_kind();
    all.iter().filter(|case| case.is_of(problem) && case.solver() == solver).collect()
}

/// The mean of one side over its seeds, with its t interval; `None` where no case is published.
pub(super) fn alone(side: &Side<'_>) -> Option<Estimate> {
    let cases = || side.cases.iter().copied();
    let values: Vec<f64> = by_seed(cases(), side.metric.name).into_values().collect();
    estimate(&values, Split::of(cases()).extra_variance(side.metric))
}

/// The mean difference or the geometric mean ratio of pairs of one seed, with its t interval, which takes overlapping
/// splits into account for metrics of test rows.
///
/// `None` where a side has no published case, no seed has both, the data of a seed differ, a value of a ratio is not
/// positive, or something else is computed.
pub(super) fn paired(compute: Compute, of: &Side<'_>, to: &Side<'_>) -> Option<Estimate> {
    let problem = GroupProblem::of(&of.cases.first()?.row().labels);
    let pair = Pair::of_cases(&problem, [of.cases.clone(), to.cases.clone()])?;
    if data(pair.of(0)) != data(pair.of(1)) {
        return None;
    }
    let extra_variance = Split::of(pair.all()).extra_variance(of.metric);
    let own = by_seed(pair.of(0), of.metric.name);
    let other = by_seed(pair.of(1), to.metric.name);
    match compute {
        Compute::Difference => estimate(&differences(&own, &other), extra_variance),
        Compute::Ratio => {
            let logs = differences(&logarithms(own), &logarithms(other));
            // An estimate leaves out what is not finite, and would be of other seeds than those that were run.
            let has_all = logs.iter().all(|log| log.is_finite());
            estimate(&logs, extra_variance).filter(|_| has_all).map(Estimate::exp)
        }
        Compute::Value | Compute::StandardErrors => None,
    }
}

/// The data of each seed; whether predictions are kept does not change them.
fn data<'f>(cases: impl Iterator<Item = CaseView<'f>>) -> BTreeMap<u64, Dataset> {
    cases.map(|case| (case.seed(), Dataset { predictions: None, ..case.case().dataset.clone() })).collect()
}

fn logarithms(values: BTreeMap<u64, f64>) -> BTreeMap<u64, f64> {
    values.into_iter().map(|(seed, value)| (seed, value.ln())).collect()
}

#[cfg(test)]
mod tests {
    use gpbench_record::{Row, Source, metric, names, testing};
    use gpbench_runs::RunRecord;

    use super::*;

    /// A run of `solver` on splits of one file, with a test RMSE for each seed.
    fn run(solver: &str, values: &[(u64, f64)]) -> Run {
        let row = |&(seed, value): &(u64, f64)| -> Row {
            let mut case = testing::case(solver);
            let source = Source::Registry { name: "pol".into() };
            case.dataset = Dataset { split: seed as u32, ..Dataset::new("pol", source) };
            case.seed = seed;
            testing::row(case, &[(names::TEST_RMSE, value)])
        };
        let rows = values.iter().map(row).collect();
        Run { record: RunRecord { rows, ..RunRecord::default() }, warnings: Vec::new() }
    }

    fn side<'f>(frame: &'f Frame<'f>) -> Side<'f> {
        let metric = metric::find(names::TEST_RMSE).unwrap();
        Side { cases: Cases::of(frame).iter().collect(), metric }
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn common_seeds_of_two_runs_are_pairs_with_the_correction_for_splits() {
        let first = run("cg", &[(0, 1.1), (1, 2.2), (2, 3.3), (4, 9.0)]);
        let second = run("cholesky", &[(0, 1.0), (1, 2.0), (2, 3.0), (3, 7.0)]);
        let frames = [&first, &second].map(|run| Frame::new(run).unwrap());
        let [of, to] = [side(&frames[0]), side(&frames[1])];
        let found = paired(Compute::Difference, &of, &to).unwrap();
        close(found.mean, 0.2);
        assert_eq!(found.count, 3);
        // t(2) = 4.302653, s = 0.1, and n_test/n_train = 1/9.
        let interval = found.printed().unwrap();
        assert!((interval.high - 0.2 - 4.302653 * 0.1 * (1.0_f64 / 3.0 + 1.0 / 9.0).sqrt()).abs() < 1e-6);
        let ratio = paired(Compute::Ratio, &of, &to).unwrap();
        close(ratio.mean, 1.1);
        close(ratio.printed().unwrap().low, 1.1);
        assert!(paired(Compute::StandardErrors, &of, &to).is_none());
        close(alone(&to).unwrap().mean, 3.25);
    }

    #[test]
    fn a_ratio_of_values_of_either_sign_has_no_pairs() {
        let runs = [run("cg", &[(0, 1.0), (1, 2.0)]), run("cg", &[(0, 2.0), (1, -2.0)])];
        let frames = [&runs[0], &runs[1]].map(|run| Frame::new(run).unwrap());
        let [of, to] = [side(&frames[0]), side(&frames[1])];
        assert!(paired(Compute::Ratio, &of, &to).is_none());
        close(paired(Compute::Difference, &of, &to).unwrap().mean, 1.5);
    }

    #[test]
    fn other_data_with_the_same_seed_are_no_pair() {
        let (first, mut second) = (run("cg", &[(0, 1.0), (1, 2.0)]), run("cg", &[(0, 1.0), (1, 2.0)]));
        second.record.rows[1].case.dataset.predictions = Some(true);
        let is_paired = |second: &Run| {
            let frames = [&first, second].map(|run| Frame::new(run).unwrap());
            let [of, to] = [side(&frames[0]), side(&frames[1])];
            paired(Compute::Difference, &of, &to).is_some()
        };
        assert!(is_paired(&second));
        second.record.rows[1].case.dataset.split = 2;
        assert!(!is_paired(&second));
    }

    #[test]
    fn without_cases_or_common_seeds_there_is_no_pair() {
        let runs = [run("cg", &[(0, 1.0)]), run("cg", &[(1, 1.0)])];
        let frames = [&runs[0], &runs[1]].map(|run| Frame::new(run).unwrap());
        let [of, to] = [side(&frames[0]), side(&frames[1])];
        let none = Side { cases: Vec::new(), ..of.clone() };
        assert!(paired(Compute::Difference, &of, &to).is_none());
        assert!(paired(Compute::Difference, &none, &to).is_none());
        assert!(alone(&none).is_none());
    }
}
