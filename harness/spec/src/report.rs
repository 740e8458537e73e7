//! Options of the report, checked.

use gpbench_record::metric::{self, METRICS};
use gpbench_record::{Axes, NamedArchive, ReportOptions, TaskKind};

use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, Position};
use crate::typed::Typed;

/// What `compare` takes.
const ARCHIVES: &str = "name a packed run, a run folder or a folder of packed runs, relative to the spec";

/// The options of `[report]`.
pub(crate) fn resolve(
    typed: &Typed,
    catalog: &Catalog,
    task: TaskKind,
    axes: &Axes,
    mistakes: &mut Mistakes,
) -> ReportOptions {
    let table = &typed.root.report;
    if let Some(baseline) = &table.baseline
        && !axes.solver.contains(&baseline.value)
        && !typed.axes_overridden
    {
        let hint = nearest::hint(&baseline.value, axes.solver.iter().map(String::as_str));
        mistakes.add(&baseline.at, format!("baseline `{}` is not on the solver axis", baseline.value), hint);
    }
    let columns = table.columns.as_ref().map_or(&[][..], |columns| &columns.value);
    columns.iter().for_each(|column| check_column(column, task, mistakes));
    refuse_repeats("column", columns, mistakes);
    let archives = table.compare.as_ref().map_or(&[][..], |compare| &compare.value);
    for archive in archives {
        if let Some(why) = catalog.unreadable_archives.get(&archive.value) {
            let what = format!("cannot compare with `{}`: {why}", archive.value);
            mistakes.add(&archive.at, what, ARCHIVES.to_owned());
        }
    }
    refuse_repeats("archive", archives, mistakes);
    ReportOptions {
        reference: table.reference.as_ref().map(|reference| reference.value.clone()),
        baseline: table.baseline.as_ref().map(|baseline| baseline.value.clone()),
        columns: columns.iter().map(|column| column.value.clone()).collect(),
        compare: archives.iter().map(|archive| named(typed, archive)).collect(),
        target: None,
    }
}

/// Archived results as the plan holds them.
fn named(typed: &Typed, archive: &At<String>) -> NamedArchive {
    let Position { file, line, column, .. } = typed.sources.position(&archive.at);
    NamedArchive { path: typed.archive(&archive.value), at: format!("{}:{line}:{column}", file.display()) }
}

/// Reports the entries of a list that it has before.
fn refuse_repeats(noun: &str, list: &[At<String>], mistakes: &mut Mistakes) {
    for (k, entry) in list.iter().enumerate() {
        if list[..k].iter().any(|earlier| earlier.value == entry.value) {
            mistakes.add(&entry.at, format!("{noun} `{}` occurs twice", entry.value), None);
        }
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
