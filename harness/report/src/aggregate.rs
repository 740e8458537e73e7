//! Means and standard errors over seeds.
//!
//! Repeats of a case are averaged first: they measure the spread of the clock, not of the result. A case that failed
//! has no numbers. A case that did not converge has: what a method reaches within its budget is a result.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{Labels, Row, Status};
use polars::prelude::*;

use crate::error::Result;
use crate::frame::{self, AXES};
use crate::run::Run;

/// What solvers are compared on: all axes but the solver and the seed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Problem {
    /// Data set, as named in the spec.
    pub dataset: String,
    /// Kernel, as named in the spec.
    pub kernel: String,
    /// Estimator, as named in the spec; absent for a task that has none.
    pub estimator: Option<String>,
}

/// A mean over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanWithError {
    /// Mean over seeds, repeats averaged first.
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
    /// What was solved.
    pub problem: Problem,
    /// Solver, as named in the spec.
    pub solver: String,
    /// Number of cases.
    pub n: usize,
    /// Number of cases that ended `ok`.
    pub n_ok: usize,
    /// Metrics over the cases that ended `ok` or `not_converged`.
    pub metrics: BTreeMap<String, MeanWithError>,
}

impl MeanWithError {
    /// The mean in another unit.
    #[must_use]
    pub(crate) fn scaled(self, factor: f64) -> MeanWithError {
        MeanWithError { mean: self.mean * factor, stderr: self.stderr.map(|stderr| stderr * factor), ..self }
    }
}

impl Group {
    /// Whether a row is one of the group's cases.
    pub(crate) fn holds(&self, row: &Row) -> bool {
        row.labels.solver == self.solver && Problem::of(&row.labels) == self.problem
    }

    /// Name of the estimator; empty where the task has none.
    pub(crate) fn estimator(&self) -> &str {
        self.problem.estimator.as_deref().unwrap_or_default()
    }

    /// Mean of a metric.
    pub fn mean(&self, metric: &str) -> Option<f64> {
        self.metrics.get(metric).map(|e| e.mean)
    }

    /// Whether every case ended `ok`, so that the group may be called the best.
    pub fn all_ok(&self) -> bool {
        self.n_ok == self.n
    }
}

/// The groups of a run, in the order of the spec's axes.
pub fn groups(run: &Run) -> Result<Vec<Group>> {
    if run.rows.is_empty() {
        return Ok(Vec::new());
    }
    let metrics = frame::metric_names(run);
    // Rows are in the order of the spec's axes.
    let parts = frame::results(run)?.partition_by_stable(AXES, true)?;
    Ok(parts.iter().map(|cases| group(cases, &metrics)).collect::<PolarsResult<Vec<_>>>()?)
}

/// The group that some cases form: all of one problem and solver.
fn group(cases: &DataFrame, metrics: &BTreeSet<String>) -> PolarsResult<Group> {
    let name = |axis: &str| -> PolarsResult<Option<String>> {
        Ok(cases.column(axis)?.str()?.get(0).map(str::to_owned))
    };
    // Timing repeats of a seed are averaged first.
    let seeds = cases.partition_by_stable(["seed"], true)?;
    let seeds = seeds.iter().map(answers).collect::<PolarsResult<Vec<_>>>()?;
    let mut means = BTreeMap::new();
    for metric in metrics {
        let of_seed = |rows: &DataFrame| Ok(rows.column(metric)?.f64()?.mean());
        let values: Float64Chunked = seeds.iter().map(of_seed).collect::<PolarsResult<_>>()?;
        if let Some(mean) = values.mean() {
            let count = values.len() - values.null_count();
            // Equal values have no deviation, whatever rounding leaves.
            let is_one = values.min() == values.max();
            let deviation = values.std(1).filter(|_| count > 1).map(|found| if is_one { 0.0 } else { found });
            let stderr = deviation.map(|deviation| deviation / (count as f64).sqrt());
            means.insert(metric.clone(), MeanWithError { mean, stderr, seeds: count, of: seeds.len() });
        }
    }
    Ok(Group {
        problem: Problem {
            dataset: name("dataset")?.unwrap_or_default(),
            kernel: name("kernel")?.unwrap_or_default(),
            estimator: name("estimator")?,
        },
        solver: name("solver")?.unwrap_or_default(),
        n: cases.height(),
        n_ok: having(cases, |status| status == Status::Ok.as_str())?.height(),
        metrics: means,
    })
}

/// The cases that gave an answer.
fn answers(cases: &DataFrame) -> PolarsResult<DataFrame> {
    let of_answers = [Status::Ok, Status::NotConverged].map(Status::as_str);
    having(cases, |status| of_answers.contains(&status))
}

/// The cases with some statuses.
fn having(cases: &DataFrame, is_wanted: impl Fn(&str) -> bool) -> PolarsResult<DataFrame> {
    let statuses = cases.column("status")?.str()?;
    let wanted: BooleanChunked = statuses.iter().map(|status| status.is_some_and(&is_wanted)).collect();
    cases.filter(&wanted)
}

impl Problem {
    /// The problem that a case belongs to.
    pub fn of(labels: &Labels) -> Problem {
        let Labels { dataset, kernel, estimator, .. } = labels.clone();
        Problem { dataset, kernel, estimator }
    }
}
