//! Cases of a run with their timing repeats merged.

use std::collections::BTreeMap;
use std::fmt;

use gpbench_record::{CaseStatus, Labels, Metrics, Row};
use serde::{Deserialize, Serialize};

use crate::frame::{CaseView, Cases};

/// Key of a case in a baseline: its names on the spec's axes without the count of timing repeats.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CaseKey {
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

impl CaseKey {
    pub(super) fn of(case: &CaseView<'_>) -> CaseKey {
        let Labels { dataset, kernel, estimator, seed, .. } = case.row().labels.clone();
        CaseKey { dataset, kernel, estimator, solver: case.solver().to_owned(), seed }
    }

    /// The key that the cases of all seeds share.
    pub(super) fn of_all_seeds(&self) -> CaseKey {
        CaseKey { seed: 0, ..self.clone() }
    }

    /// The case without its seed: `pol/matern32/pathwise/cg`.
    pub(super) fn without_seed(&self) -> String {
        let CaseKey { dataset, kernel, estimator, solver, .. } = self;
        let parts = [Some(dataset), Some(kernel), estimator.as_ref(), Some(solver)];
        parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("/")
    }
}

impl fmt::Display for CaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/seed {}", self.without_seed(), self.seed)
    }
}

/// A run's cases with their timing repeats merged.
pub(super) fn merged<'f>(cases: &Cases<'f>) -> BTreeMap<CaseKey, Merged<'f>> {
    let mut repeats: BTreeMap<CaseKey, Vec<CaseView<'f>>> = BTreeMap::new();
    for case in cases.iter() {
        repeats.entry(CaseKey::of(&case)).or_default().push(case);
    }
    repeats.into_iter().map(|(key, cases)| (key, Merged::new(&cases))).collect()
}

/// A case with its repeats: the worst status, and the mean of each metric.
pub(super) struct Merged<'f> {
    pub(super) worst: &'f Row,
    pub(super) metrics: Metrics,
}

impl<'f> Merged<'f> {
    fn new(repeats: &[CaseView<'f>]) -> Merged<'f> {
        let worst = repeats.iter().map(CaseView::row).max_by_key(|row| severity(row.status));
        let worst = worst.expect("a key stands for at least one case");
        let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (name, value) in repeats.iter().flat_map(CaseView::metrics) {
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

/// Rank of a status from good to bad; all failures are equal.
pub(super) fn severity(status: CaseStatus) -> u8 {
    match status {
        CaseStatus::Ok => 0,
        CaseStatus::NotConverged => 1,
        CaseStatus::Skipped => 2,
        _ => 3,
    }
}
