//! Tables from the rows of a journal.

use std::collections::BTreeSet;

use gpbench_record::{Hyperparameters, Labels, Metrics, ParamValue, Row};
use polars::prelude::{Column, DataFrame, PolarsResult};

use super::Nested;

/// A row for each case, and the names of its columns that are metrics. A value that was not measured is null.
pub(super) fn results(rows: &[Row]) -> PolarsResult<(DataFrame, Vec<String>)> {
    let optional_text = |name: &str, of: fn(&Row) -> Option<&str>| {
        Column::new(name.into(), rows.iter().map(of).collect::<Vec<_>>())
    };
    let count = |name: &str, of: fn(&Row) -> Option<usize>| {
        Column::new(name.into(), rows.iter().map(|r| of(r).map(|n| n as u64)).collect::<Vec<_>>())
    };
    let mut columns = vec![text("id", rows.iter().map(|r| r.id.as_str()))];
    columns.extend(axes(rows.iter().map(|r| &r.labels)));
    columns.push(text("status", rows.iter().map(|r| r.status.as_str())));
    columns.push(text("reason", rows.iter().map(|r| r.reason.as_str())));
    columns.push(text("plugin", rows.iter().map(|r| r.case.solver.plugin.as_str())));
    columns.extend([count("n", |r| r.n), count("d", |r| r.d)]);
    columns.extend(settings(rows));
    columns.push(Column::new("reproducible".into(), rows.iter().map(|r| r.reproducible).collect::<Vec<_>>()));
    columns.push(optional_text("reused_from", |r| r.reused_from.as_deref()));
    columns.push(optional_text("environment", |r| r.environment.as_deref()));
    columns.push(optional_text("node", |r| Some(r.place.as_ref()?.node.as_str())));
    let shared = rows.iter().map(|r| Some(r.place.as_ref()?.shared)).collect::<Vec<_>>();
    columns.push(Column::new("shared".into(), shared));
    let suspended = rows.iter().map(|r| Some(r.place.as_ref()?.suspended_seconds)).collect::<Vec<_>>();
    columns.push(Column::new("suspended_seconds".into(), suspended));
    columns.push(text("finished", rows.iter().map(|r| r.finished.as_str())));
    let before = columns.len();
    add_metrics(&mut columns, rows.iter().map(|r| &r.metrics));
    let metrics = columns[before..].iter().map(|column| column.name().to_string()).collect();
    Ok((DataFrame::new(rows.len(), columns)?, metrics))
}

/// A column for each bound, hyperparameter and parameter of the cases: `tolerance`, `kernel.noise_scale`, `params.rank`. A
/// parameter that is a text somewhere is one everywhere.
fn settings(rows: &[Row]) -> Vec<Column> {
    let numbers = |name: &str, of: &dyn Fn(&Row) -> Option<f64>| {
        Column::new(name.into(), rows.iter().map(of).collect::<Vec<_>>())
    };
    let mut columns = vec![
        numbers("tolerance", &|row| row.case.budget.tolerance),
        numbers("max_epochs", &|row| row.case.budget.max_epochs),
    ];
    let scales: Vec<Hyperparameters> = rows.iter().map(|row| row.case.kernel.hyperparameters()).collect();
    let names: BTreeSet<&String> = scales.iter().flat_map(Hyperparameters::keys).collect();
    for name in names {
        let values: Vec<Option<f64>> = scales.iter().map(|scales| scales.get(name).copied()).collect();
        columns.push(Column::new(format!("kernel.{name}").into(), values));
    }
    let names: BTreeSet<&String> = rows.iter().flat_map(|row| row.case.solver.params.keys()).collect();
    for name in names {
        let values: Vec<Option<&ParamValue>> =
            rows.iter().map(|row| row.case.solver.params.get(name)).collect();
        let are_numbers = values.iter().flatten().all(|value| value.number().is_some());
        let name = format!("params.{name}").into();
        columns.push(match are_numbers {
            true => Column::new(
                name,
                values.iter().map(|value| value.and_then(ParamValue::number)).collect::<Vec<_>>(),
            ),
            false => {
                Column::new(name, values.iter().map(|v| v.map(ParamValue::to_string)).collect::<Vec<_>>())
            }
        });
    }
    columns
}

/// A row for each trace point.
pub(super) fn traces(rows: &[Row]) -> PolarsResult<Nested> {
    let points: Vec<_> = rows.iter().flat_map(|r| r.trace.iter().map(move |p| (r, p))).collect();
    let mut columns = vec![text("id", points.iter().map(|(r, _)| r.id.as_str()))];
    columns.extend(axes(points.iter().map(|(r, _)| &r.labels)));
    columns
        .push(Column::new("iteration".into(), points.iter().map(|(_, p)| p.iteration).collect::<Vec<_>>()));
    columns.push(Column::new("seconds".into(), points.iter().map(|(_, p)| p.seconds).collect::<Vec<_>>()));
    columns.push(Column::new("epochs".into(), points.iter().map(|(_, p)| p.epochs).collect::<Vec<_>>()));
    add_metrics(&mut columns, points.iter().map(|(_, p)| &p.metrics));
    nested(columns, rows.iter().map(|r| r.trace.len()))
}

/// A row for each step.
pub(super) fn steps(rows: &[Row]) -> PolarsResult<Nested> {
    let steps: Vec<_> = rows.iter().flat_map(|r| r.output.steps().iter().map(move |s| (r, s))).collect();
    let mut columns = vec![text("id", steps.iter().map(|(r, _)| r.id.as_str()))];
    columns.extend(axes(steps.iter().map(|(r, _)| &r.labels)));
    columns.push(Column::new("step".into(), steps.iter().map(|(_, s)| s.step).collect::<Vec<_>>()));
    let scales: Vec<Metrics> =
        steps.iter().map(|(_, s)| s.hyperparameters.clone().into_iter().collect()).collect();
    add_metrics(&mut columns, scales.iter());
    add_metrics(&mut columns, steps.iter().map(|(_, s)| &s.metrics));
    nested(columns, rows.iter().map(|r| r.output.steps().len()))
}

/// The table with these columns, of which each case has so many rows.
fn nested(columns: Vec<Column>, counts: impl Iterator<Item = usize>) -> PolarsResult<Nested> {
    let mut starts = vec![0];
    for count in counts {
        starts.push(starts[starts.len() - 1] + count);
    }
    Ok(Nested { table: DataFrame::new(starts[starts.len() - 1], columns)?, starts })
}

fn axes<'a>(labels: impl Iterator<Item = &'a Labels> + Clone) -> Vec<Column> {
    vec![
        text("dataset", labels.clone().map(|l| l.dataset.as_str())),
        text("kernel", labels.clone().map(|l| l.kernel.as_str())),
        Column::new("estimator".into(), labels.clone().map(|l| l.estimator.as_deref()).collect::<Vec<_>>()),
        text("solver", labels.clone().map(|l| l.solver.as_str())),
        Column::new("seed".into(), labels.clone().map(|l| l.seed).collect::<Vec<_>>()),
        Column::new("repeat".into(), labels.map(|l| l.repeat).collect::<Vec<_>>()),
    ]
}

/// Adds a column for each metric, by name. A name that another column has already is left out.
fn add_metrics<'a>(columns: &mut Vec<Column>, metrics: impl Iterator<Item = &'a Metrics> + Clone) {
    let mut names: BTreeSet<&str> = metrics.clone().flat_map(|m| m.iter().map(|(name, _)| name)).collect();
    for taken in columns.iter() {
        names.remove(taken.name().as_str());
    }
    let column =
        |name: &str| Column::new(name.into(), metrics.clone().map(|m| m.get(name)).collect::<Vec<_>>());
    let added: Vec<Column> = names.into_iter().map(column).collect();
    columns.extend(added);
}

fn text<'a>(name: &str, values: impl Iterator<Item = &'a str>) -> Column {
    Column::new(name.into(), values.collect::<Vec<_>>())
}
