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
    /// The mean of what some of `of` seeds have; `None` where none has a value.
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
        let values = seeds.iter().map(of_seed).collect::<PolarsResult<Vec<Option<f64>>>>()?;
        let values: Vec<f64> = values.into_iter().flatten().collect();
        means.extend(MeanWithError::of(&values, seeds.len()).map(|mean| (metric.clone(), mean)));
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
