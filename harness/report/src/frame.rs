//! The results as data frames: a row for each case, each trace point, or each outer step.

use std::collections::BTreeSet;

use gpbench_record::{Hyperparameters, Labels, Metrics, ParamValue, Row};
use polars::prelude::*;

use crate::run::Run;

/// Columns that name a case, before the metrics.
pub(crate) const AXES: [&str; 4] = ["dataset", "kernel", "estimator", "solver"];

/// The column with the whole case.
pub(crate) const CASE: &str = "case";

/// The columns of `results.parquet` that are no metrics, with their documentation. A name that ends in `*` stands for several.
pub const COLUMNS: &[(&str, &str)] = &[
    ("id", "16 hexadecimal digits of a hash of everything that can change the result."),
    ("dataset", "Data set, as named in the spec."),
    ("kernel", "Kernel, as named in the spec."),
    ("estimator", "Estimator, as named in the spec; null for a task that has none."),
    ("solver", "Solver or learner, as named in the spec; of a list of values, `NAME@PARAMETER=VALUE`."),
    ("seed", "The spec's seed of the case."),
    ("repeat", "Count of timing repeats, from 0."),
    ("status", "ok, not_converged, diverged, timeout, out_of_memory, crashed, invalid or skipped."),
    ("reason", "One sentence; empty where `ok` needs none."),
    ("plugin", "Id of the solver or learner that a plugin offers."),
    ("n", "Training rows."),
    ("d", "Inputs."),
    ("tolerance", "Relative residual norm to reach; null without one."),
    ("max_epochs", "Most epochs, multiples of n^2 kernel entries; null without a bound."),
    (
        "kernel.*",
        "A hyperparameter of the kernel: noise_scale, signal_scale, length_scale or length_scale_K of input K.",
    ),
    (
        "params.*",
        "A parameter of the solver or learner, defaults included; null where it has none of this name.",
    ),
    ("reproducible", "False if a clock decided where the solver stopped."),
    ("reused_from", "The run in which the case ran, where its row is re-used or merged; else null."),
    (
        "environment",
        "16 hexadecimal digits that stand for the machine and the build that the case ran on: seconds of different ones cannot be compared.",
    ),
    ("node", "The node of a cluster that the case ran on; else null."),
    ("shared", "Whether other jobs could run on that node at the same time; null where there is none."),
    ("suspended_seconds", "Seconds for which the case's job was suspended; null where there is none."),
    ("finished", "UTC time at which the case ended."),
    ("case", "The whole case as JSON: everything that the spec says of it. Not in `results.csv`."),
];

/// What the tables of trace points and of steps say of the case, in the words of [`COLUMNS`].
const OF_CASE: (&str, &str) =
    ("id, dataset, kernel, estimator, solver, seed, repeat", "The case, as in `results.parquet`.");

/// The columns of `traces.parquet` that are no metrics, with their documentation.
pub(crate) const TRACE_COLUMNS: &[(&str, &str)] = &[
    OF_CASE,
    ("iteration", "The solver's count of iterations."),
    ("seconds", "Wall-clock seconds of prepare and solve so far, without evaluations."),
    ("epochs", "Multiples of n^2 kernel entries used so far."),
    ("solver:*", "A number that the solver reports of itself; the harness does not check it."),
];

/// The columns of `steps.parquet` that are no metrics, with their documentation.
pub(crate) const STEP_COLUMNS: &[(&str, &str)] = &[
    OF_CASE,
    ("step", "Count of steps, from 0."),
    (
        "noise_scale, signal_scale, length_scale, length_scale_*",
        "The hyperparameters of the step's systems; `length_scale_K` is that of input K, counted from 0.",
    ),
];

/// A row for each case: id, axes, outcome, then a column for each metric, null where nothing was measured.
pub(crate) fn results(run: &Run) -> PolarsResult<DataFrame> {
    let rows = &run.rows;
    let mut columns = vec![text("id", rows.iter().map(|r| r.id.as_str()))];
    columns.extend(axes(rows.iter().map(|r| &r.labels)));
    columns.push(text("status", rows.iter().map(|r| r.status.as_str())));
    columns.push(text("reason", rows.iter().map(|r| r.reason.as_str())));
    columns.push(text("plugin", rows.iter().map(|r| r.case.solver.plugin.as_str())));
    let counts =
        |of: fn(&Row) -> Option<usize>| rows.iter().map(|r| of(r).map(|v| v as u64)).collect::<Vec<_>>();
    columns.push(Column::new("n".into(), counts(|r| r.n)));
    columns.push(Column::new("d".into(), counts(|r| r.d)));
    columns.extend(settings(rows));
    columns.push(Column::new("reproducible".into(), rows.iter().map(|r| r.reproducible).collect::<Vec<_>>()));
    let runs = rows.iter().map(|r| r.reused_from.as_deref()).collect::<Vec<_>>();
    columns.push(Column::new("reused_from".into(), runs));
    let environments = rows.iter().map(|r| r.environment.as_deref()).collect::<Vec<_>>();
    columns.push(Column::new("environment".into(), environments));
    let nodes = rows.iter().map(|r| Some(r.place.as_ref()?.node.as_str())).collect::<Vec<_>>();
    columns.push(Column::new("node".into(), nodes));
    let shared = rows.iter().map(|r| Some(r.place.as_ref()?.shared)).collect::<Vec<_>>();
    columns.push(Column::new("shared".into(), shared));
    let suspended = rows.iter().map(|r| Some(r.place.as_ref()?.suspended_seconds)).collect::<Vec<_>>();
    columns.push(Column::new("suspended_seconds".into(), suspended));
    columns.push(text("finished", rows.iter().map(|r| r.finished.as_str())));
    let cases: Vec<String> =
        rows.iter().map(|r| serde_json::to_string(&r.case).unwrap_or_default()).collect();
    columns.push(text(CASE, cases.iter().map(String::as_str)));
    let metrics: Vec<&Metrics> = rows.iter().map(|r| &r.metrics).collect();
    columns.extend(metric_columns(&metrics));
    DataFrame::new(rows.len(), columns)
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

/// A row for each trace point, with the axes of its case.
pub(crate) fn traces(run: &Run) -> PolarsResult<DataFrame> {
    let points: Vec<_> = run.rows.iter().flat_map(|r| r.trace.iter().map(move |p| (r, p))).collect();
    let mut columns = vec![text("id", points.iter().map(|(r, _)| r.id.as_str()))];
    columns.extend(axes(points.iter().map(|(r, _)| &r.labels)));
    columns
        .push(Column::new("iteration".into(), points.iter().map(|(_, p)| p.iteration).collect::<Vec<_>>()));
    columns.push(Column::new("seconds".into(), points.iter().map(|(_, p)| p.seconds).collect::<Vec<_>>()));
    columns.push(Column::new("epochs".into(), points.iter().map(|(_, p)| p.epochs).collect::<Vec<_>>()));
    let taken: BTreeSet<&str> = ["iteration", "seconds", "epochs"].into();
    let metrics: Vec<&Metrics> = points.iter().map(|(_, p)| &p.metrics).collect();
    columns.extend(metric_columns(&metrics).into_iter().filter(|c| !taken.contains(c.name().as_str())));
    DataFrame::new(points.len(), columns)
}

/// A row for each outer step: its hyperparameters and metrics.
pub(crate) fn steps(run: &Run) -> PolarsResult<DataFrame> {
    let steps: Vec<_> = run.rows.iter().flat_map(|r| r.output.steps().iter().map(move |s| (r, s))).collect();
    let mut columns = vec![text("id", steps.iter().map(|(r, _)| r.id.as_str()))];
    columns.extend(axes(steps.iter().map(|(r, _)| &r.labels)));
    columns.push(Column::new("step".into(), steps.iter().map(|(_, s)| s.step).collect::<Vec<_>>()));
    let scales: Vec<Metrics> =
        steps.iter().map(|(_, s)| s.hyperparameters.clone().into_iter().collect()).collect();
    columns.extend(metric_columns(&scales.iter().collect::<Vec<_>>()));
    columns.extend(metric_columns(&steps.iter().map(|(_, s)| &s.metrics).collect::<Vec<_>>()));
    DataFrame::new(steps.len(), columns)
}

/// Names of all metrics of a run.
pub(crate) fn metric_names(run: &Run) -> BTreeSet<String> {
    run.rows.iter().flat_map(|r| r.metrics.iter().map(|(name, _)| name.to_owned())).collect()
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

fn metric_columns(metrics: &[&Metrics]) -> Vec<Column> {
    let names: BTreeSet<&str> = metrics.iter().flat_map(|m| m.iter().map(|(name, _)| name)).collect();
    let column = |name: &str| {
        Column::new(name.into(), metrics.iter().map(|m| m.get(name)).collect::<Vec<Option<f64>>>())
    };
    names.into_iter().map(column).collect()
}

fn text<'a>(name: &str, values: impl Iterator<Item = &'a str>) -> Column {
    Column::new(name.into(), values.collect::<Vec<_>>())
}
