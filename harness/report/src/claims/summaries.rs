//! The summaries of published runs: means over seeds, which every published folder has.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use gpbench_record::{Environment, disturbance, names};
use serde::Deserialize;

use crate::error::{Error, Result, at};
use crate::problem::GroupProblem;

/// The runs of a folder, by name.
#[derive(Debug, Default)]
pub(super) struct Summaries(BTreeMap<String, Summary>);

/// The part of `summary.json` that claims need.
#[derive(Debug, Deserialize)]
pub(super) struct Summary {
    groups: Vec<SummaryGroup>,
    /// Whether other programs are known to have used few of the processors.
    #[serde(skip)]
    pub(super) is_quiet: bool,
}

/// All cases of one solver on one problem.
#[derive(Debug, Deserialize)]
pub(super) struct SummaryGroup {
    dataset: String,
    kernel: String,
    estimator: Option<String>,
    /// Of a grid, the name with the value.
    pub(super) solver: String,
    /// Number of cases.
    n: usize,
    /// Number of those that reached their goal.
    n_ok: usize,
    pub(super) metrics: BTreeMap<String, SummaryMean>,
}

/// A mean over seeds.
#[derive(Debug, Deserialize)]
pub(super) struct SummaryMean {
    /// Absent where a value was not finite.
    pub(super) mean: Option<f64>,
    pub(super) stderr: Option<f64>,
    pub(super) seeds: usize,
}

/// What tells the cases of a run apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'c> {
    pub(super) dataset: &'c str,
    pub(super) solver: &'c str,
    pub(super) estimator: Option<&'c str>,
    pub(super) kernel: Option<&'c str>,
}

/// Several groups are meant by the names of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ambiguous;

impl Summaries {
    /// Reads the runs with these names; one without a summary is left out.
    ///
    /// # Errors
    /// If a summary cannot be read or is not of its form.
    pub(super) fn read(published: &Path, names: &BTreeSet<&str>) -> Result<Summaries> {
        let mut all = BTreeMap::new();
        for name in names {
            let path = published.join(name).join("summary.json");
            if path.is_file() {
                let text = fs::read_to_string(&path).map_err(at(&path))?;
                let summary: Summary = serde_json::from_str(&text).map_err(|error| Error::Format {
                    path: path.clone(),
                    at: Some((error.line(), error.column())),
                    reason: error.to_string(),
                })?;
                let is_quiet = is_quiet(&published.join(name).join("environment.json"));
                all.insert((*name).to_owned(), Summary { is_quiet, ..summary });
            }
        }
        Ok(Summaries(all))
    }

    pub(super) fn get(&self, run: &str) -> Option<&Summary> {
        self.0.get(run)
    }
}

/// Whether an environment states that other programs used few of the processors; not where it states nothing.
fn is_quiet(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let environment: Option<Environment> = serde_json::from_str(&text).ok();
    let load = environment.and_then(|environment| environment.other_load);
    load.is_some() && disturbance(load).is_none()
}

impl Summary {
    /// The group of these names; of a solver with a grid, the value with the least exact likelihood, as the papers' protocols choose
    /// it.
    ///
    /// # Errors
    /// If several groups have these names, since estimator or kernel is not given.
    pub(super) fn find(&self, wanted: Wanted<'_>) -> std::result::Result<Option<&SummaryGroup>, Ambiguous> {
        let is = |asked: Option<&str>, own: Option<&str>| asked.is_none_or(|asked| own == Some(asked));
        let own: Vec<&SummaryGroup> = self
            .groups
            .iter()
            .filter(|group| group.dataset == wanted.dataset)
            .filter(|group| is(wanted.estimator, group.estimator.as_deref()))
            .filter(|group| is(wanted.kernel, Some(&group.kernel)))
            .collect();
        let named: Vec<&SummaryGroup> =
            own.iter().copied().filter(|group| group.solver == wanted.solver).collect();
        match named.as_slice() {
            [one] => return Ok(Some(*one)),
            [] => {}
            _ => return Err(Ambiguous),
        }
        let is_of_grid = |group: &&SummaryGroup| {
            group.solver.split_once('@').is_some_and(|(entry, _)| entry == wanted.solver)
        };
        let grid = own.into_iter().filter(is_of_grid);
        let ranked = grid.filter_map(|group| Some((group.mean(names::NLML)?, group)));
        Ok(ranked.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, group)| group))
    }
}

impl SummaryGroup {
    /// The problem.
    pub(super) fn problem(&self) -> GroupProblem {
        GroupProblem {
            dataset: self.dataset.clone(),
            kernel: self.kernel.clone(),
            estimator: self.estimator.clone(),
        }
    }

    /// Mean of a metric, where it is finite.
    pub(super) fn mean(&self, metric: &str) -> Option<f64> {
        self.metrics.get(metric)?.mean
    }

    /// Whether some case ended at the limit of its budget, so that its cost is a lower bound.
    pub(super) fn is_limited(&self) -> bool {
        self.n_ok < self.n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(groups: &[(&str, &str, &str, f64)]) -> Summary {
        let group = |(dataset, estimator, solver, nlml): &(&str, &str, &str, f64)| {
            serde_json::json!({
                "dataset": dataset, "kernel": "k", "estimator": estimator, "solver": solver, "n": 1, "n_ok": 1,
                "metrics": { "nlml": { "mean": nlml, "stderr": null, "seeds": 1 } },
            })
        };
        let groups: Vec<serde_json::Value> = groups.iter().map(group).collect();
        serde_json::from_value(serde_json::json!({ "schema": 1, "groups": groups })).unwrap()
    }

    fn found(
        summary: &Summary,
        solver: &str,
        estimator: Option<&str>,
    ) -> std::result::Result<Option<f64>, Ambiguous> {
        let wanted = Wanted { dataset: "pol", solver, estimator, kernel: None };
        summary.find(wanted).map(|group| group.and_then(|group| group.mean("nlml")))
    }

    #[test]
    fn names_choose_a_group() {
        let summary = summary(&[("pol", "a", "cg", 1.0), ("pol", "b", "cg", 2.0), ("bike", "a", "cg", 3.0)]);
        assert_eq!(found(&summary, "cg", Some("b")), Ok(Some(2.0)));
        assert_eq!(found(&summary, "cg", None), Err(Ambiguous));
        assert_eq!(found(&summary, "ap", Some("a")), Ok(None));
    }

    #[test]
    fn a_grid_stands_for_its_value_with_the_least_likelihood() {
        let summary = summary(&[
            ("pol", "a", "scgd-32@learning_rate=0.1", 1.0),
            ("pol", "a", "scgd-32@learning_rate=1", 0.5),
            ("pol", "a", "scgd-3@learning_rate=1", 0.1),
        ]);
        assert_eq!(found(&summary, "scgd-32", None), Ok(Some(0.5)));
        assert_eq!(found(&summary, "scgd-32@learning_rate=0.1", None), Ok(Some(1.0)));
    }
}
