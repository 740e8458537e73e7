//! The cases of a run, as baselines distinguish them.

use std::collections::BTreeMap;
use std::fmt;

use gpbench_record::{Labels, Metrics, Row, Status};
use serde::{Deserialize, Serialize};

use crate::run::Run;

/// A case's names on the spec's axes; timing repeats count as one case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// Data set.
    pub dataset: String,
    /// Kernel.
    pub kernel: String,
    /// Estimator; absent for a task that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimator: Option<String>,
    /// Solver.
    pub solver: String,
    /// Seed.
    pub seed: u64,
}

impl Key {
    pub(super) fn of(labels: &Labels) -> Key {
        let Labels { dataset, kernel, estimator, solver, seed, .. } = labels.clone();
        Key { dataset, kernel, estimator, solver, seed }
    }
}

impl Key {
    /// The case without its seed: `pol/matern32/pathwise/cg`.
    pub(super) fn without_seed(&self) -> String {
        let Key { dataset, kernel, estimator, solver, .. } = self;
        let parts = [Some(dataset), Some(kernel), estimator.as_ref(), Some(solver)];
        parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("/")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/seed {}", self.without_seed(), self.seed)
    }
}

/// A run's cases with their timing repeats merged.
pub(super) fn merged(run: &Run) -> BTreeMap<Key, Merged<'_>> {
    let mut cases: BTreeMap<Key, Vec<&Row>> = BTreeMap::new();
    for row in &run.rows {
        cases.entry(Key::of(&row.labels)).or_default().push(row);
    }
    cases.into_iter().map(|(key, rows)| (key, Merged::new(&rows))).collect()
}

/// A case with its repeats: the worst status, and the mean of each metric.
pub(super) struct Merged<'a> {
    pub(super) worst: &'a Row,
    pub(super) metrics: Metrics,
}

impl<'a> Merged<'a> {
    fn new(rows: &[&'a Row]) -> Merged<'a> {
        let worst =
            rows.iter().max_by_key(|row| severity(row.status)).expect("a key stands for at least one row");
        let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (name, value) in rows.iter().flat_map(|row| row.metrics.iter()) {
            let (sum, count) = sums.entry(name).or_default();
            *sum += value;
            *count += 1.0;
        }
        Merged {
            worst,
            metrics: sums.into_iter().map(|(name, (sum, n))| (name.to_owned(), sum / n)).collect(),
        }
    }
}

/// Order of statuses from good to bad; all failures are alike.
pub(super) fn severity(status: Status) -> u8 {
    match status {
        Status::Ok => 0,
        Status::NotConverged => 1,
        Status::Skipped => 2,
        _ => 3,
    }
}
