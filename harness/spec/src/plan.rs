//! The third station: the cases in the order in which they run.
//!
//! Repeats are interleaved: every case runs once before any runs again. Within a
//! round the order is a shuffle keyed by the spec's order seed and the case's own
//! names, so that leaving a case out does not move the others.

use std::path::PathBuf;

use gpbench_record::{Case, Estimator, EstimatorMethod, Frequencies, Task};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::checked::{Cell, Checked};
use crate::nearest;

/// The cases of a spec in the order in which they run; the content of `plan.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// [`gpbench_record::SCHEMA`].
    pub schema: u32,
    /// The spec's name.
    pub name: String,
    /// What every case measures.
    pub task: Task,
    /// Threads a case may use, where the spec says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// Key of the order.
    pub order_seed: u64,
    /// What the report is asked to show.
    #[serde(default)]
    pub report: ReportOptions,
    /// The cases.
    pub cases: Vec<PlannedCase>,
}

/// What the report is asked to show.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReportOptions {
    /// Published figures to put beside ours; one of [`crate::REFERENCES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Name on the solver axis that speed-ups are measured against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

/// A case and what it takes to run it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCase {
    /// The case.
    pub case: Case,
    /// Library that offers the solver.
    pub plugin_file: PathBuf,
    /// SHA-256 of that library.
    pub plugin_sha256: String,
    /// Whether the solver says that it is exact.
    pub exact: bool,
    /// The user's own CSV or Parquet file, for a data set given by path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset_path: Option<PathBuf>,
    /// Training rows, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// Inputs, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub d: Option<usize>,
}

/// What a case is likely to take; order of magnitude only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Peak memory of the worker.
    pub memory_bytes: f64,
    /// Wall-clock seconds of prepare and solve.
    pub seconds: f64,
}

/// A filter that selects nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownName {
    /// A name that no case of the plan bears.
    #[error("no {axis} `{name}` in this plan{}", .hint.as_ref().map(|h| format!("; {h}")).unwrap_or_default())]
    Name {
        /// `solver` or `data set`.
        axis: &'static str,
        /// The name.
        name: String,
        /// The nearest right name, or all there are.
        hint: Option<String>,
    },
    /// Names that exist, but never in one case.
    #[error("no case of this plan has such a solver on such a data set")]
    Empty,
}

impl Plan {
    pub(crate) fn of(checked: &Checked) -> Self {
        let mut cases = Vec::with_capacity(checked.cells.len() * checked.repeats as usize);
        for repeat in 0..checked.repeats {
            let mut round: Vec<PlannedCase> =
                checked.cells.iter().map(|cell| planned(cell, repeat)).collect();
            round.sort_by_cached_key(|p| shuffle_key(checked.order_seed, &p.case));
            cases.extend(round);
        }
        Self {
            schema: gpbench_record::SCHEMA,
            name: checked.name.clone(),
            task: checked.task,
            threads: checked.threads,
            order_seed: checked.order_seed,
            report: checked.report.clone(),
            cases,
        }
    }

    /// The cases whose solver and data set are among the names given; no names select all.
    ///
    /// # Errors
    /// If a name is not in the plan, or if nothing is left.
    pub fn filter(&self, solvers: &[String], datasets: &[String]) -> Result<Plan, UnknownName> {
        check_names("solver", solvers, self.cases.iter().map(|p| p.case.solver.name.as_str()))?;
        check_names("data set", datasets, self.cases.iter().map(|p| p.case.dataset.name.as_str()))?;
        let chosen = |names: &[String], name: &String| names.is_empty() || names.contains(name);
        let mut plan = self.clone();
        plan.cases.retain(|p| chosen(solvers, &p.case.solver.name) && chosen(datasets, &p.case.dataset.name));
        if plan.cases.is_empty() { Err(UnknownName::Empty) } else { Ok(plan) }
    }

    /// A text that two plans share exactly if they hold the same cases in the same
    /// order: how a rerun finds the folder to go on in. Files are not part of it.
    pub fn key(&self) -> String {
        let cases: Vec<&Case> = self.cases.iter().map(|p| &p.case).collect();
        let json =
            serde_json::to_vec(&(&self.name, cases)).expect("plain data with text keys always serialises");
        Sha256::digest(&json).iter().take(8).map(|b| format!("{b:02x}")).collect()
    }
}

fn planned(cell: &Cell, repeat: u32) -> PlannedCase {
    PlannedCase {
        case: Case { repeat, ..cell.case.clone() },
        plugin_file: cell.plugin_file.clone(),
        plugin_sha256: cell.plugin_sha256.clone(),
        exact: cell.exact,
        dataset_path: cell.dataset_path.clone(),
        n: cell.n,
        d: cell.d,
    }
}

/// Sorting by a hash is a shuffle that needs no generator and is the same everywhere.
fn shuffle_key(order_seed: u64, case: &Case) -> [u8; 32] {
    Sha256::digest(format!("{order_seed}/{}/{}", case.labels(), case.repeat)).into()
}

fn check_names<'a>(
    axis: &'static str,
    names: &[String],
    known: impl Iterator<Item = &'a str>,
) -> Result<(), UnknownName> {
    let mut distinct: Vec<&str> = known.collect();
    distinct.sort_unstable();
    distinct.dedup();
    match names.iter().find(|name| !distinct.contains(&name.as_str())) {
        Some(name) => Err(UnknownName::Name {
            axis,
            name: name.clone(),
            hint: nearest::hint(name, distinct.iter().copied()),
        }),
        None => Ok(()),
    }
}

impl PlannedCase {
    /// What this case is likely to take with so many threads; `None` while the
    /// number of rows is unknown.
    ///
    /// A dense factorisation holds n^2 numbers and takes n^3/3 multiply-adds; exact
    /// training inverts as well, in as many numbers again, n^3/2 in all; an exact draw
    /// of the prior factorises training and test rows together, on one thread. An
    /// iterative solver holds about four blocks of right-hand sides beside the
    /// inputs and visits every kernel entry once an epoch. How many epochs it will
    /// take nobody knows beforehand: a hundred are assumed, or the budget if less.
    pub fn estimate(&self, threads: usize) -> Option<Estimate> {
        const PROCESS_BYTES: f64 = 64e6;
        const FLOPS_PER_THREAD: f64 = 3e10;
        const FLOPS_PER_EXPONENTIAL: f64 = 30.0;
        const EPOCHS: f64 = 100.0;
        let n = self.n? as f64;
        let d = self.d.unwrap_or(10) as f64;
        let s = 1.0 + self.case.estimator.probes as f64;
        let rate = FLOPS_PER_THREAD * threads.max(1) as f64;
        let epoch = n * n * (2.0 * d + 2.0 * s + FLOPS_PER_EXPONENTIAL) / rate;
        let vectors = 8.0 * n * (d + 4.0 * s);
        let budget = &self.case.budget;
        let Estimator { method, frequencies, .. } = self.case.estimator;
        let (mut numbers, mut seconds) = if self.case.train.is_some() && method == EstimatorMethod::Exact {
            (2.0 * n * n, epoch + n * n * n / rate)
        } else if self.exact {
            (n * n, epoch + n * n * n / 3.0 * 2.0 / rate)
        } else {
            (0.0, epoch * budget.max_epochs.unwrap_or(EPOCHS).min(EPOCHS))
        };
        if method == EstimatorMethod::Pathwise && frequencies == Frequencies::Exact {
            let rows = n * 10.0 / 9.0;
            numbers += rows * rows;
            seconds += rows * rows * rows / 3.0 / FLOPS_PER_THREAD;
        }
        let steps = self.case.train.as_ref().map(|train| train.steps).or(self.case.repetitions);
        let seconds = seconds * steps.map_or(1.0, |steps| steps as f64);
        let seconds = budget.seconds.map_or(seconds, |limit| seconds.min(limit));
        Some(Estimate { memory_bytes: PROCESS_BYTES + vectors + 8.0 * numbers, seconds })
    }
}
