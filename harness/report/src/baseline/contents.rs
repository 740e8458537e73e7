//! The contents of data and plugins that a baseline was made with, and remarks on others.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::CaseStatus;

use super::file::BaselineContents;
use crate::frame::Cases;

/// Contents by name.
type Contents = BTreeMap<String, BTreeSet<String>>;

impl BaselineContents {
    /// The contents of the data sets and the solvers that cases have, skipped ones excepted.
    pub(super) fn of(cases: &Cases<'_>) -> BaselineContents {
        let rows = || cases.rows().filter(|row| row.status != CaseStatus::Skipped);
        let datasets: BTreeSet<&str> = rows().map(|row| row.labels.dataset.as_str()).collect();
        let solvers: BTreeSet<&str> = rows().map(|row| row.labels.solver.as_str()).collect();
        let among = |contents: &Contents, names: &BTreeSet<&str>| {
            let known = contents.iter().filter(|(name, _)| names.contains(name.as_str()));
            known.map(|(name, contents)| (name.clone(), contents.clone())).collect()
        };
        let record = cases.record();
        BaselineContents {
            datasets: among(&record.contents, &datasets),
            solvers: among(&record.libraries, &solvers),
        }
    }

    /// Remarks on names that stand for other contents in a run than in this baseline.
    pub(super) fn remarks(&self, run: &BaselineContents) -> Vec<String> {
        let datasets = others(&self.datasets, &run.datasets).map(|names| {
            format!(
                "the content of these data sets is other than in the baseline, so that results may differ for that: {names}"
            )
        });
        let solvers = others(&self.solvers, &run.solvers)
            .map(|names| format!("the libraries of these solvers are other than in the baseline: {names}"));
        datasets.into_iter().chain(solvers).collect()
    }
}

/// The names that stand for different contents, where both are known; none if there is no such name.
fn others(old: &Contents, new: &Contents) -> Option<String> {
    let differ = old.iter().filter(|(name, contents)| new.get(*name).is_some_and(|now| now != *contents));
    let names: Vec<&str> = differ.map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
