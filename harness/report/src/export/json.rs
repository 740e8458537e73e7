//! JSON: every case with its metrics, and the summary of groups.

use gpbench_record::Row;
use serde_json::{Map, Value, json};

use crate::aggregate::{Group, MeanWithError, groups_of};
use crate::frame::Cases;
use crate::overview;

/// Version of these forms.
const SCHEMA: u32 = 1;

/// `{"schema": 1, "cases": [{"id", "dataset", ..., "status", "reason", "metrics": {...}}]}`.
pub(super) fn cases(rows: &[Row]) -> String {
    let case = |row: &Row| {
        let labels = &row.labels;
        json!({
            "id": row.id,
            "dataset": labels.dataset,
            "kernel": labels.kernel,
            "estimator": labels.estimator,
            "solver": labels.solver,
            "seed": labels.seed,
            "repeat": labels.repeat,
            "status": row.status,
            "reason": row.reason,
            "reused_from": row.reused_from,
            "environment": row.environment,
            "place": row.place,
            "params": row.case.solver.params,
            "budget": row.case.budget,
            "hyperparameters": row.case.kernel.hyperparameters(),
            "metrics": row.metrics,
        })
    };
    pretty(&json!({ "schema": SCHEMA, "cases": rows.iter().map(case).collect::<Vec<_>>() }))
}

/// `{"schema": 1, "name", "task", "planned", "statuses": {...}, "groups": [{..., "metrics": {NAME: {"mean", ...}}}]}`.
pub(super) fn summary(cases: &Cases<'_>) -> String {
    let mean = |MeanWithError { mean, stderr, seeds, .. }: &MeanWithError| json!({ "mean": mean, "stderr": stderr, "seeds": seeds });
    let group = |group: &Group| {
        let metrics = group.metrics.iter().map(|(name, value)| (name.clone(), mean(value)));
        json!({
            "dataset": group.problem.dataset,
            "kernel": group.problem.kernel,
            "estimator": group.problem.estimator,
            "solver": group.solver,
            "n": group.n,
            "n_ok": group.n_ok,
            "metrics": metrics.collect::<Map<String, Value>>(),
        })
    };
    let statuses = overview::outcomes(cases).into_iter().map(|(what, n)| (what, n.into()));
    let groups = groups_of(&cases.with_times_of_one_kind());
    pretty(&json!({
        "schema": SCHEMA,
        "name": cases.record().name,
        "task": cases.tasks().first(),
        "planned": cases.run().planned(),
        "statuses": statuses.collect::<Map<String, Value>>(),
        "groups": groups.iter().map(group).collect::<Vec<_>>(),
    }))
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
