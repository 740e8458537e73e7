//! `gpbench list`: solvers and learners, data sets, kernels, metrics, runs.

use clap::{Args, ValueEnum};
use gpbench_record::metric::METRICS;
use gpbench_record::{Facts, Family, LibraryInfo, SolverInfo};
use gpbench_report::{COLUMNS, better, tasks, tolerance};
use gpbench_runs::RunRecord;
use serde_json::{Value, json};

use crate::args::{Format, FormatArg, Global};
use crate::catalog::{self, Libraries};
use crate::exit::{Failure, OK, Outcome};
use crate::notice::warn;
use crate::output::{Listing, json_path, versioned};
use crate::worker::Worker;
use crate::{dataset_list, params, units};

/// `gpbench list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// What to list.
    #[arg(value_enum, default_value_t = Listed::Solvers)]
    what: Listed,
    #[command(flatten)]
    output: FormatArg,
}

/// The kinds of listings of `gpbench list`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Listed {
    /// Solvers and learners of all plugins found; `--verbose` lists their parameters too.
    #[value(alias = "learners")]
    Solvers,
    /// Data sets of the registry, and built-in ones.
    Datasets,
    /// Kernel families.
    Kernels,
    /// Every column of `results.parquet`, of CSV and of JSON: metrics, and what tells cases apart.
    #[value(alias = "columns")]
    Metrics,
    /// Runs under the output folder.
    Runs,
}

pub(crate) fn list(global: &Global, args: &List) -> Outcome {
    let output = args.output;
    match args.what {
        Listed::Solvers => solvers(global, output),
        Listed::Datasets => dataset_list::print(global, output),
        Listed::Kernels => kernels(output),
        Listed::Metrics => metrics(output),
        Listed::Runs => runs(global, output),
    }
}

fn solvers(global: &Global, output: FormatArg) -> Outcome {
    let Libraries { usable, unusable, .. } = catalog::libraries(&Worker::locate()?, &[])?;
    for text in unusable {
        warn(global, text);
    }
    let all: Vec<(&LibraryInfo, &SolverInfo)> =
        usable.iter().flat_map(|library| library.solvers.iter().map(move |s| (library, s))).collect();
    let json: Vec<Value> = all.iter().map(|(library, solver)| as_json(library, solver)).collect();
    let json = versioned("solvers", json);
    let listing = if global.verbose { with_parameters(&all, json) } else { methods(&all, json) };
    listing.print(output)?;
    Ok(OK)
}

/// A row for each solver and learner, with all that its plugin states of it.
fn methods(all: &[(&LibraryInfo, &SolverInfo)], json: Value) -> Listing {
    let facts = Facts::default().titled().map(|(title, _)| title);
    let minor = [&facts[..], &["source", "plugin", "version"]].concat();
    let header = [&["name", "kind", "documentation"][..], &minor].concat();
    let mut listing = Listing::new(&header, json).major(&["documentation"]).minor(&minor);
    for (LibraryInfo { name, version, .. }, solver) in all {
        let facts = solver.facts.titled().map(|(_, text)| text);
        let source = solver.source.as_deref().unwrap_or_default();
        let row =
            [&[solver.id.as_str(), solver.kind.as_str(), &solver.doc][..], &facts, &[source, name, version]];
        listing.row(row.concat().into_iter().map(str::to_owned).collect());
    }
    listing
}

/// Rows for each solver and learner: its documentation, what else its plugin states of it, and its parameters.
fn with_parameters(all: &[(&LibraryInfo, &SolverInfo)], json: Value) -> Listing {
    let header = ["name", "parameter", "default", "range", "documentation"];
    let mut listing = Listing::new(&header, json).major(&["parameter", "documentation"]);
    let row =
        |name: &str, text: String| vec![name.to_owned(), String::new(), String::new(), String::new(), text];
    for (_, solver) in all {
        listing.row(row(&solver.id, solver.doc.clone()));
        let source = ("source", solver.source.as_deref().unwrap_or_default());
        let facts = solver.facts.titled().into_iter().chain([source]);
        let stated = facts.filter(|(_, text)| !text.is_empty());
        stated.for_each(|(title, text)| listing.row(row("", format!("{title}: {text}"))));
        params::rows(solver).for_each(|row| listing.row(row));
    }
    listing
}

fn as_json(library: &LibraryInfo, solver: &SolverInfo) -> Value {
    json!({
        "id": solver.id,
        "kind": solver.kind,
        "plugin": library.name,
        "version": library.version,
        "doc": solver.doc,
        "source": solver.source,
        "facts": solver.facts,
        "capabilities": solver.capabilities,
        "params": solver.params,
    })
}

fn kernels(output: FormatArg) -> Outcome {
    let json = |family: Family| json!({ "id": family, "formula": family.formula() });
    let header = ["kernel", "k(r), with r scaled by one length scale for each input"];
    let json = versioned("kernels", Family::ALL.map(json).to_vec());
    let mut listing = Listing::new(&header, json).major(&header);
    for family in Family::ALL {
        listing.row(vec![family.to_string(), family.formula().to_owned()]);
    }
    listing.print(output)?;
    Ok(OK)
}

/// Units, directions, tolerances and tasks of all metrics, after the columns that are no metrics.
pub(super) fn metrics(output: FormatArg) -> Outcome {
    let header = ["column", "unit", "better", "tolerance", "tasks", "documentation"];
    let mut rows = Vec::new();
    let mut values = Vec::new();
    for (name, doc) in COLUMNS {
        rows.push([*name, "", "", "", "", doc].map(str::to_owned).to_vec());
        values.push(json!({ "name": name, "doc": doc }));
    }
    for metric in METRICS {
        let better = better(metric);
        let [name, unit, doc] = [metric.name, metric.unit.as_str(), metric.doc()].map(str::to_owned);
        rows.push(vec![name, unit, better.to_owned(), tolerance(metric), tasks(metric), doc]);
        values.push(json!({
            "name": metric.name,
            "title": metric.title,
            "unit": metric.unit.as_str(),
            "better": better,
            "tolerance": { "absolute": metric.tolerance.absolute, "relative": metric.tolerance.relative },
            "tasks": metric.tasks,
            "doc": metric.doc(),
        }));
    }
    let mut listing = Listing::new(&header, versioned("columns", values)).major(&["documentation"]).minor(&[
        "better",
        "tolerance",
        "tasks",
    ]);
    rows.into_iter().for_each(|row| listing.row(row));
    listing.print(output)?;
    Ok(OK)
}

/// A run's date, cases and seconds; of one that cannot be read, why.
fn runs(global: &Global, output: FormatArg) -> Outcome {
    let folders = gpbench_runs::list_runs(&global.output_dir);
    if folders.is_empty() && output.format == Format::Table {
        return Err(Failure::nothing(format!("there are no runs under {}", global.output_dir.display())));
    }
    let mut rows = Vec::new();
    let mut values = Vec::new();
    for folder in folders {
        let path = folder.display().to_string();
        match RunRecord::open(&folder) {
            Ok(run) => {
                let (done, planned) = (run.rows.len(), run.planned());
                let failed = run.rows.iter().filter(|row| row.status.is_failure()).count();
                let seconds: f64 = run.rows.iter().filter_map(|row| row.metrics.solver_seconds()).sum();
                let last = run.rows.iter().map(|row| row.finished.as_str()).max();
                let date: String = last.unwrap_or_default().chars().take(16).collect();
                let shard = run.shard.map(|shard| format!(", shard {shard}")).unwrap_or_default();
                let (cases, failures) = (format!("{done} of {planned}{shard}"), failed.to_string());
                rows.push(vec![path, date.replace('T', " "), cases, failures, units::duration(seconds)]);
                values.push(json!({
                    "path": json_path(&folder),
                    "name": run.name,
                    "last_finished": last,
                    "done": done,
                    "planned": planned,
                    "shard": run.shard.map(|shard| shard.to_string()),
                    "failed": failed,
                    "seconds": seconds,
                }));
            }
            Err(error) => {
                warn(global, &error);
                rows.push(vec![path, String::new(), "unreadable".to_owned(), String::new(), String::new()]);
                values.push(json!({ "path": json_path(&folder), "error": error.to_string() }));
            }
        }
    }
    let header = ["run", "last case (UTC)", "cases", "failed", "solving"];
    let mut listing = Listing::new(&header, versioned("runs", values));
    rows.into_iter().for_each(|row| listing.row(row));
    listing.print(output)?;
    Ok(OK)
}
