//! Means and standard errors over seeds.
//!
//! Repeats of a case are averaged first: they say how steady the clock is, not
//! how sure a result is. A case that failed gives no number; one that did not
//! converge does, since what a method reaches within its budget is a result.

use std::collections::BTreeMap;

use gpbench_record::Status;
use polars::prelude::*;

use crate::error::Result;
use crate::frame::{self, AXES};
use crate::run::Run;

/// What solvers are compared on: everything but the solver and the seed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Problem {
    /// Data set, as named in the spec.
    pub dataset: String,
    /// Kernel, as named in the spec.
    pub kernel: String,
    /// Estimator, as named in the spec.
    pub estimator: String,
}

/// A mean over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Mean over seeds, repeats averaged first.
    pub mean: f64,
    /// Standard error of the mean; absent with one seed.
    pub stderr: Option<f64>,
    /// Number of seeds behind it.
    pub seeds: usize,
    /// Number of seeds that were run; those that are missing failed, or had nothing to measure.
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
    pub metrics: BTreeMap<String, Estimate>,
}

impl Group {
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
    groups.sort_by_key(|g| place(run, g));
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
    let name = |axis: &str| -> PolarsResult<String> {
        Ok(table.column(axis)?.str()?.get(i).unwrap_or_default().to_owned())
    };
    let number = |column: &str| -> PolarsResult<Option<f64>> {
        Ok(table.column(column)?.cast(&DataType::Float64)?.f64()?.get(i))
    };
    let count = |column: &str| -> PolarsResult<usize> { Ok(number(column)?.unwrap_or(0.0) as usize) };
    let of = count("seeds")?;
    let mut estimates = BTreeMap::new();
    for metric in metrics {
        let seeds = count(&part(metric, "count"))?;
        if let Some(mean) = number(&part(metric, "mean"))? {
            let deviation = number(&part(metric, "std"))?.filter(|_| seeds > 1);
            let stderr = deviation.map(|s| s / (seeds as f64).sqrt());
            estimates.insert(metric.clone(), Estimate { mean, stderr, seeds, of });
        }
    }
    Ok(Group {
        problem: Problem {
            dataset: name("dataset")?,
            kernel: name("kernel")?,
            estimator: name("estimator")?,
        },
        solver: name("solver")?,
        n: count("n")?,
        n_ok: count("n_ok")?,
        metrics: estimates,
    })
}

/// The first row of a group: rows are in the order of the spec's axes.
fn place(run: &Run, group: &Group) -> usize {
    let of_group = |row: &gpbench_record::Row| {
        row.labels.solver == group.solver && Problem::of(&row.labels) == group.problem
    };
    run.rows.iter().position(of_group).unwrap_or(usize::MAX)
}

impl Problem {
    /// The problem that a case belongs to.
    pub fn of(labels: &gpbench_record::Labels) -> Problem {
        Problem {
            dataset: labels.dataset.clone(),
            kernel: labels.kernel.clone(),
            estimator: labels.estimator.clone(),
        }
    }
}

/// Problems of a list of groups, each once, in order.
pub(crate) fn problems(groups: &[Group]) -> Vec<&Problem> {
    let mut all: Vec<&Problem> = Vec::new();
    for group in groups {
        if !all.contains(&&group.problem) {
            all.push(&group.problem);
        }
    }
    all
}

/// What tells a problem from the others: the data set, and kernel or estimator only where they vary.
pub(crate) fn title(problem: &Problem, all: &[&Problem]) -> String {
    let mut parts = vec![problem.dataset.as_str()];
    if all.iter().any(|p| p.kernel != problem.kernel) {
        parts.push(&problem.kernel);
    }
    if all.iter().any(|p| p.estimator != problem.estimator) {
        parts.push(&problem.estimator);
    }
    parts.join(" · ")
}
