//! Means and standard errors over seeds.
//!
//! Timing repeats of a seed are reduced to one number first ([`crate::pairs::reduced`]): they measure the spread of the clock,
//! not of the result. A failed case has no values. A case that did not converge has: the state that a method reaches within its budget is a result.

use std::collections::{BTreeMap, HashMap};

use gpbench_record::{CaseStatus, names};

use crate::error::Result;
use crate::frame::{CaseView, Cases, Frame};
use crate::pairs::reduced;
use crate::problem::GroupProblem;
use crate::run::Run;

/// A mean over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanWithError {
    /// Mean over seeds, repeats reduced first: seconds to their median, other metrics to their mean.
    pub mean: f64,
    /// Standard error of the mean; absent with one seed.
    pub stderr: Option<f64>,
    /// Number of seeds that have a value.
    pub seeds: usize,
    /// Number of seeds that were run; the others failed, or had nothing to measure.
    pub of: usize,
}

/// All cases of one solver on one problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The problem.
    pub problem: GroupProblem,
    /// Solver, as named in the spec.
    pub solver: String,
    /// Number of cases.
    pub n: usize,
    /// Number of cases that ended `ok`.
    pub n_ok: usize,
    /// Metrics over the cases that ended `ok` or `not_converged`.
    pub metrics: BTreeMap<String, MeanWithError>,
    /// Places of its cases among those that the groups were made of.
    places: Vec<usize>,
}

impl MeanWithError {
    /// The mean of the values that some of `of` seeds have; `None` where none has one.
    pub(crate) fn of(values: &[f64], of: usize) -> Option<MeanWithError> {
        let seeds = values.len();
        let first = values.first()?;
        let mean = values.iter().sum::<f64>() / seeds as f64;
        // Equal values have no deviation, whatever rounding leaves.
        let is_one = values.iter().all(|value| value == first);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let spread = || (squares / (seeds - 1) as f64 / seeds as f64).sqrt();
        let stderr = (seeds > 1).then(|| if is_one { 0.0 } else { spread() });
        Some(MeanWithError { mean, stderr, seeds, of })
    }

    /// The mean in another unit.
    #[must_use]
    pub(crate) fn scaled(self, factor: f64) -> MeanWithError {
        MeanWithError {
            mean: self.mean * factor,
            stderr: self.stderr.map(|stderr| stderr * factor.abs()),
            ..self
        }
    }
}

impl Group {
    /// The group's cases, among those that the groups were made of.
    pub(crate) fn cases<'c, 'f>(&'c self, all: &'c Cases<'f>) -> impl Iterator<Item = CaseView<'f>> + 'c {
        self.places.iter().map(|place| all.at(*place))
    }

    /// Name of the estimator; empty where the task has none.
    pub(crate) fn estimator(&self) -> &str {
        self.problem.estimator.as_deref().unwrap_or_default()
    }

    /// Mean of a metric.
    pub fn mean(&self, metric: &str) -> Option<f64> {
        self.metrics.get(metric).map(|e| e.mean)
    }

    /// Whether every case ended `ok`, so that costs are those of what the spec asks for.
    pub fn all_ok(&self) -> bool {
        self.n_ok == self.n
    }
}

/// The groups of a run, in the order of the spec's axes.
///
/// # Errors
/// If the table of results cannot be built.
pub fn groups(run: &Run) -> Result<Vec<Group>> {
    Ok(groups_of(&Cases::of(&Frame::new(run)?)))
}

/// The groups of some cases, in the order of these.
pub(crate) fn groups_of(cases: &Cases<'_>) -> Vec<Group> {
    let mut places: HashMap<_, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let key = (case.dataset(), case.kernel(), case.estimator(), case.solver());
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(at);
    }
    groups.into_iter().map(|own| group(cases, own)).collect()
}

/// The group that some cases form: all of one problem and solver.
fn group(all: &Cases<'_>, places: Vec<usize>) -> Group {
    let cases: Vec<CaseView<'_>> = places.iter().map(|place| all.at(*place)).collect();
    let mut seeds: Vec<(u64, Vec<CaseView<'_>>)> = Vec::new();
    for case in &cases {
        match seeds.iter_mut().rev().find(|(seed, _)| *seed == case.seed()) {
            Some((_, repeats)) => repeats.push(*case),
            None => seeds.push((case.seed(), vec![*case])),
        }
    }
    seeds.iter_mut().for_each(|(_, repeats)| repeats.retain(CaseView::is_answer));
    let mut metrics = BTreeMap::new();
    for metric in all.metrics().chain([names::SECONDS_GRID]) {
        let of_seed = |(_, repeats): &(u64, Vec<CaseView<'_>>)| {
            reduced(metric, &repeats.iter().filter_map(|case| case.metric(metric)).collect::<Vec<f64>>())
        };
        let values: Vec<f64> = seeds.iter().filter_map(of_seed).collect();
        metrics.extend(MeanWithError::of(&values, seeds.len()).map(|mean| (metric.to_owned(), mean)));
    }
    Group {
        problem: GroupProblem::of(&cases[0].row().labels),
        solver: cases[0].solver().to_owned(),
        n: cases.len(),
        n_ok: cases.iter().filter(|case| case.status() == CaseStatus::Ok).count(),
        metrics,
        places,
    }
}
