//! A run in one string: for `gpbench report RUN --format ...`.

use polars::prelude::*;
use serde_json::{Map, Value, json};

use crate::aggregate::{Group, groups};
use crate::error::Result;
use crate::frame;
use crate::run::Run;
use crate::tables;

pub use crate::markdown::markdown;

/// Every case with its metrics.
pub fn json(run: &Run) -> Value {
    let case = |row: &gpbench_record::Row| {
        let l = &row.labels;
        json!({
            "id": row.id,
            "dataset": l.dataset,
            "kernel": l.kernel,
            "estimator": l.estimator,
            "solver": l.solver,
            "seed": l.seed,
            "repeat": l.repeat,
            "status": row.status,
            "reason": row.reason,
            "metrics": row.metrics,
        })
    };
    json!({ "schema": gpbench_record::SCHEMA, "cases": run.rows.iter().map(case).collect::<Vec<_>>() })
}

/// Every case, one line each: the content of `results.parquet`.
///
/// # Errors
/// If the data frame cannot be built or written.
pub fn csv(run: &Run) -> Result<String> {
    let mut bytes = Vec::new();
    CsvWriter::new(&mut bytes).finish(&mut frame::results(run)?)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Columns that a terminal has no room for.
const LEFT_OUT: [&str; 5] = ["residual probes", "exact NLL", "iterations", "prepare [s]", "solve [s]"];

/// The results tables, aligned for a terminal, without the columns that say least.
///
/// # Errors
/// If the aggregation fails.
pub fn text(run: &Run) -> Result<String> {
    let groups = groups(run)?;
    let mut parts: Vec<String> =
        tables::results(run, &groups).into_iter().map(|t| t.without(&LEFT_OUT).text()).collect();
    parts.extend(tables::published(run, &groups).map(|t| t.text()));
    parts.extend(tables::not_ok(run).map(|t| t.text()));
    let counts: Vec<String> = tables::outcomes(run).iter().map(|(what, n)| format!("{n} {what}")).collect();
    parts.push(format!("{}: {}\n", run.name, counts.join(", ")));
    Ok(parts.join("\n"))
}

/// Counts, and means with standard errors: the content of `summary.json`.
///
/// # Errors
/// If the aggregation fails.
pub fn summary(run: &Run) -> Result<Value> {
    let group = |g: &Group| {
        let estimate = |e: &crate::Estimate| json!({ "mean": e.mean, "stderr": e.stderr, "seeds": e.seeds });
        let metrics: Map<String, Value> =
            g.metrics.iter().map(|(name, e)| (name.clone(), estimate(e))).collect();
        json!({
            "dataset": g.problem.dataset,
            "kernel": g.problem.kernel,
            "estimator": g.problem.estimator,
            "solver": g.solver,
            "n": g.n,
            "n_ok": g.n_ok,
            "metrics": metrics,
        })
    };
    let counts: Map<String, Value> =
        tables::outcomes(run).into_iter().map(|(what, n)| (what, n.into())).collect();
    Ok(json!({
        "schema": gpbench_record::SCHEMA,
        "name": run.name,
        "task": run.task(),
        "planned": run.planned,
        "statuses": counts,
        "groups": groups(run)?.iter().map(group).collect::<Vec<_>>(),
    }))
}
