//! Tables from the rows of a journal.

use std::collections::BTreeSet;

use gpbench_record::{Hyperparameters, Labels, Metrics, ParamValue, Predictions, Row};
use gpbench_statistics::normal_quantile;
use polars::prelude::{Column, DataFrame, PolarsResult};

use super::nested::Nested;

/// A column with a value of each item.
macro_rules! column {
    ($name:expr, $items:expr, $value:expr) => {
        Column::new($name.into(), $items.iter().map($value).collect::<Vec<_>>())
    };
}

/// A row for each case, and the names of its columns that are metrics. A value that was not measured is null.
pub(super) fn results(rows: &[Row]) -> PolarsResult<(DataFrame, Vec<String>)> {
    let mut columns = vec![column!("id", rows, |r| r.id.as_str())];
    columns.extend(axes(&rows.iter().map(|r| &r.labels).collect::<Vec<_>>()));
    columns.extend([
        column!("status", rows, |r| r.status.as_str()),
        column!("reason", rows, |r| r.reason.as_str()),
        column!("plugin", rows, |r| r.case.solver.plugin.as_str()),
        column!("n", rows, |r| r.n.map(|n| n as u64)),
        column!("d", rows, |r| r.d.map(|d| d as u64)),
        column!("tolerance", rows, |r| r.case.budget.tolerance),
        column!("max_epochs", rows, |r| r.case.budget.max_epochs),
    ]);
    columns.extend(hyperparameters(rows));
    columns.extend(parameters(rows));
    columns.extend([
        column!("reproducible", rows, |r| r.reproducible),
        column!("reused_from", rows, |r| r.reused_from.as_deref()),
        column!("environment", rows, |r| r.environment.as_deref()),
        column!("node", rows, |r| Some(r.place.as_ref()?.node.as_str())),
        column!("shared", rows, |r| Some(r.place.as_ref()?.shared)),
        column!("suspended_seconds", rows, |r| Some(r.place.as_ref()?.suspended_seconds)),
        column!("finished", rows, |r| r.finished.as_str()),
    ]);
    let before = columns.len();
    add_metrics(&mut columns, &rows.iter().map(|r| &r.metrics).collect::<Vec<_>>());
    let metrics = columns[before..].iter().map(|column| column.name().to_string()).collect();
    Ok((DataFrame::new(rows.len(), columns)?, metrics))
}

/// Columns of hyperparameters: those that cases begin with, those that they end with, and these in the units of the file.
fn hyperparameters(rows: &[Row]) -> Vec<Column> {
    let start = rows.iter().map(|row| row.case.kernel.hyperparameters());
    let learned = rows.iter().map(|row| row.output.learned().cloned().unwrap_or_default());
    let in_units = rows.iter().map(|row| row.hyperparameters_in_units().unwrap_or_default());
    let mut columns = named("kernel", &start.collect::<Vec<_>>());
    columns.extend(named("learned", &learned.collect::<Vec<_>>()));
    columns.extend(named("units", &in_units.collect::<Vec<_>>()));
    if rows.iter().any(|row| row.units.is_some()) {
        columns.push(column!("target_scale", rows, |row| Some(row.units.as_ref()?.target.divisor)));
    }
    columns
}

/// A column for each hyperparameter of some cases, such as `kernel.noise_scale`; null where a case has none of the name.
fn named(prefix: &str, scales: &[Hyperparameters]) -> Vec<Column> {
    let names: BTreeSet<&String> = scales.iter().flat_map(Hyperparameters::keys).collect();
    let column =
        |name: &String| column!(format!("{prefix}.{name}"), scales, |scales| scales.get(name).copied());
    names.into_iter().map(column).collect()
}

/// A column for each parameter of the solvers, such as `params.rank`. One that is a text somewhere is a text everywhere.
fn parameters(rows: &[Row]) -> Vec<Column> {
    let names: BTreeSet<&String> = rows.iter().flat_map(|row| row.case.solver.params.keys()).collect();
    let column = |name: &String| {
        let values: Vec<Option<&ParamValue>> =
            rows.iter().map(|row| row.case.solver.params.get(name)).collect();
        let are_numbers = values.iter().flatten().all(|value| value.number().is_some());
        let name = format!("params.{name}");
        match are_numbers {
            true => column!(name, values, |value| value.and_then(ParamValue::number)),
            false => column!(name, values, |value| value.map(ParamValue::to_string)),
        }
    };
    names.into_iter().map(column).collect()
}

/// A row for each trace point.
pub(super) fn traces(rows: &[Row]) -> PolarsResult<Nested> {
    let points: Vec<_> = rows.iter().flat_map(|r| r.trace.iter().map(move |p| (r, p))).collect();
    let mut columns = vec![column!("id", points, |(r, _)| r.id.as_str())];
    columns.extend(axes(&points.iter().map(|(r, _)| &r.labels).collect::<Vec<_>>()));
    columns.extend([
        column!("iteration", points, |(_, p)| p.iteration),
        column!("seconds", points, |(_, p)| p.seconds),
        column!("epochs", points, |(_, p)| p.epochs),
    ]);
    add_metrics(&mut columns, &points.iter().map(|(_, p)| &p.metrics).collect::<Vec<_>>());
    nested(columns, rows.iter().map(|r| r.trace.len()))
}

/// A row for each step.
pub(super) fn steps(rows: &[Row]) -> PolarsResult<Nested> {
    let steps: Vec<_> = rows.iter().flat_map(|r| r.output.steps().iter().map(move |s| (r, s))).collect();
    let mut columns = vec![column!("id", steps, |(r, _)| r.id.as_str())];
    columns.extend(axes(&steps.iter().map(|(r, _)| &r.labels).collect::<Vec<_>>()));
    columns.push(column!("step", steps, |(_, s)| s.step));
    let names: BTreeSet<&String> = steps.iter().flat_map(|(_, s)| s.hyperparameters.keys()).collect();
    let scale = |name: &String| column!(name.as_str(), steps, |(_, s)| s.hyperparameters.get(name).copied());
    columns.extend(names.into_iter().map(scale));
    add_metrics(&mut columns, &steps.iter().map(|(_, s)| &s.metrics).collect::<Vec<_>>());
    nested(columns, rows.iter().map(|r| r.output.steps().len()))
}

/// A row for each test row of each case whose predictions are kept, in the units of the file.
pub(super) fn predictions(rows: &[Row]) -> PolarsResult<DataFrame> {
    let kept = rows.iter().filter_map(|row| Some((row, row.predictions.as_deref()?)));
    let kept = kept.filter(|(_, predictions)| predictions.is_complete());
    let kept: Vec<(&Row, &Predictions, usize)> =
        kept.flat_map(|(row, kept)| (0..kept.len()).map(move |at| (row, kept, at))).collect();
    let half = normal_quantile(0.975);
    let limit = |kept: &Predictions, at: usize, sign: f64| {
        Some(kept.mean[at] + sign * half * kept.deviation.get(at)?)
    };
    let mut columns = vec![column!("id", kept, |(r, ..)| r.id.as_str())];
    columns.extend(axes(&kept.iter().map(|(r, ..)| &r.labels).collect::<Vec<_>>()));
    columns.extend([
        column!("row", kept, |(_, kept, at)| kept.row[*at]),
        column!("row_id", kept, |(_, kept, at)| kept.id.get(*at).map(String::as_str)),
        column!("target", kept, |(_, kept, at)| kept.target[*at]),
        column!("mean", kept, |(_, kept, at)| kept.mean[*at]),
        column!("deviation", kept, |(_, kept, at)| kept.deviation.get(*at).copied()),
        column!("latent_deviation", kept, |(_, kept, at)| kept.latent_deviation.get(*at).copied()),
        column!("lower_95", kept, |(_, kept, at)| limit(kept, *at, -1.0)),
        column!("upper_95", kept, |(_, kept, at)| limit(kept, *at, 1.0)),
    ]);
    DataFrame::new(kept.len(), columns)
}

/// The table with these columns, of which each case has so many rows.
fn nested(columns: Vec<Column>, counts: impl Iterator<Item = usize>) -> PolarsResult<Nested> {
    let mut starts = vec![0];
    for count in counts {
        starts.push(starts[starts.len() - 1] + count);
    }
    Ok(Nested { table: DataFrame::new(starts[starts.len() - 1], columns)?, starts })
}

fn axes(labels: &[&Labels]) -> [Column; 6] {
    [
        column!("dataset", labels, |l| l.dataset.as_str()),
        column!("kernel", labels, |l| l.kernel.as_str()),
        column!("estimator", labels, |l| l.estimator.as_deref()),
        column!("solver", labels, |l| l.solver.as_str()),
        column!("seed", labels, |l| l.seed),
        column!("repeat", labels, |l| l.repeat),
    ]
}

/// Adds a column for each metric, by name. A name that another column has already is left out.
fn add_metrics(columns: &mut Vec<Column>, metrics: &[&Metrics]) {
    let mut names: BTreeSet<&str> = metrics.iter().flat_map(|m| m.iter().map(|(name, _)| name)).collect();
    for taken in columns.iter() {
        names.remove(taken.name().as_str());
    }
    columns.extend(names.into_iter().map(|name| column!(name, metrics, |m| m.get(name))));
}
