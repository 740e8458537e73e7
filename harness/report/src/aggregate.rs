//! Means and standard errors over seeds.
//!
//! Repeats of a case are averaged first: they measure the spread of the clock, not of the result. A case that failed
//! has no numbers. A case that did not converge has: what a method reaches within its budget is a result.

use std::collections::BTreeMap;

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
    let metrics: Vec<String> = frame::metric_names(run).into_iter().collect();
    let table = aggregate(frame::results(run)?, &metrics)?;
    let mut groups =
        (0..table.height()).map(|i| group(&table, i, &metrics)).collect::<PolarsResult<Vec<_>>>()?;
    // Rows are in the order of the spec's axes.
    groups.sort_by_key(|group| run.rows.iter().position(|row| group.holds(row)));
    Ok(groups)
}

fn aggregate(results: DataFrame, metrics: &[String]) -> PolarsResult<DataFrame> {
    let is = |status: Status| col("status").eq(lit(status.as_str()));
    let usable = is(Status::Ok).or(is(Status::NotConverged));
    let mut of_a_seed = vec![len().alias("n"), is(Status::Ok).sum().alias("n_ok")];
    let mut over_seeds = vec![col("n").sum(), col("n_ok").sum(), len().alias("seeds")];
    for name in metrics {
        of_a_seed.push(col(name.as_str()).filter(usable.clone()).mean());
        over_seeds.push(col(name.as_str()).mean().alias(part(name, "mean")));
        over_seeds.push(col(name.as_str()).std(1).alias(part(name, "std")));
        over_seeds.push(col(name.as_str()).count().alias(part(name, "count")));
    }
    let axes = AXES.map(col);
    let axes_and_seed: Vec<Expr> = axes.iter().cloned().chain([col("seed")]).collect();
    // Groups come out of a hash map; sorting by seed makes the sums below bit-identical from run to run.
    let sorted = results.lazy().sort(["seed", "repeat"], SortMultipleOptions::default());
    sorted.group_by_stable(axes_and_seed).agg(of_a_seed).group_by_stable(axes).agg(over_seeds).collect()
}

fn part(metric: &str, what: &str) -> String {
    format!("{metric}\u{0}{what}")
}

fn group(table: &DataFrame, i: usize, metrics: &[String]) -> PolarsResult<Group> {
    let name = |axis: &str| -> PolarsResult<Option<String>> {
        Ok(table.column(axis)?.str()?.get(i).map(str::to_owned))
    };
    let number = |column: &str| -> PolarsResult<Option<f64>> {
        Ok(table.column(column)?.cast(&DataType::Float64)?.f64()?.get(i))
    };
    let count = |column: &str| -> PolarsResult<usize> { Ok(number(column)?.unwrap_or(0.0) as usize) };
    let of = count("seeds")?;
    let mut means = BTreeMap::new();
    for metric in metrics {
        let seeds = count(&part(metric, "count"))?;
        if let Some(mean) = number(&part(metric, "mean"))? {
            let deviation = number(&part(metric, "std"))?.filter(|_| seeds > 1);
            let stderr = deviation.map(|s| s / (seeds as f64).sqrt());
            means.insert(metric.clone(), MeanWithError { mean, stderr, seeds, of });
        }
    }
    Ok(Group {
        problem: Problem {
            dataset: name("dataset")?.unwrap_or_default(),
            kernel: name("kernel")?.unwrap_or_default(),
            estimator: name("estimator")?,
        },
        solver: name("solver")?.unwrap_or_default(),
        n: count("n")?,
        n_ok: count("n_ok")?,
        metrics: means,
    })
}

impl Problem {
    /// The problem that a case belongs to.
    pub fn of(labels: &Labels) -> Problem {
        let Labels { dataset, kernel, estimator, .. } = labels.clone();
        Problem { dataset, kernel, estimator }
    }
}
