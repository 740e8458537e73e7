//! Options of the report, checked.

use gpbench_record::metric::{self, METRICS};
use gpbench_record::{Axes, ReportOptions, TaskKind};

use crate::error::Mistakes;
use crate::nearest;
use crate::source::At;
use crate::typed::Typed;

/// The options of `[report]`.
pub(crate) fn resolve(typed: &Typed, task: TaskKind, axes: &Axes, mistakes: &mut Mistakes) -> ReportOptions {
    let table = &typed.root.report;
    if let Some(baseline) = &table.baseline
        && !axes.solver.contains(&baseline.value)
        && !typed.axes_overridden
    {
        let hint = nearest::hint(&baseline.value, axes.solver.iter().map(String::as_str));
        mistakes.add(&baseline.at, format!("baseline `{}` is not on the solver axis", baseline.value), hint);
    }
    let columns = table.columns.as_ref().map_or(&[][..], |columns| &columns.value);
    for (k, column) in columns.iter().enumerate() {
        check_column(column, task, mistakes);
        if columns[..k].iter().any(|earlier| earlier.value == column.value) {
            mistakes.add(&column.at, format!("column `{}` occurs twice", column.value), None);
        }
    }
    ReportOptions {
        reference: table.reference.as_ref().map(|reference| reference.value.clone()),
        baseline: table.baseline.as_ref().map(|baseline| baseline.value.clone()),
        columns: columns.iter().map(|column| column.value.clone()).collect(),
        target: None,
    }
}

fn check_column(column: &At<String>, task: TaskKind, mistakes: &mut Mistakes) {
    let what = match metric::find(&column.value) {
        Some(metric) if metric.is_of(task) => return,
        Some(_) => format!("task \"{task}\" does not measure `{}`", column.value),
        None => format!("unknown metric `{}`", column.value),
    };
    let of_task = METRICS.iter().filter(|metric| metric.is_of(task)).map(|metric| metric.name);
    mistakes.add(&column.at, what, nearest::hint(&column.value, of_task));
}
