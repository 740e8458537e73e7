//! `gpbench list`: solvers and learners, data sets, kernels, metrics, runs.

use clap::{Args, ValueEnum};
use gpbench_record::metric::METRICS;
use gpbench_record::{Family, LibraryInfo, SolverInfo};
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
    /// Solvers and learners of all plugins found.
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
    let header = if global.verbose {
        ["name", "parameter", "default", "range", "documentation"]
    } else {
        ["name", "kind", "plugin", "version", "documentation"]
    };
    let mut listing = Listing::new(&header, versioned("solvers", json))
        .major(&["parameter", "documentation"])
        .minor(&["plugin", "version"]);
    for (library, solver) in all {
        let SolverInfo { id, doc, .. } = solver;
        if global.verbose {
            listing.row(vec![id.clone(), String::new(), String::new(), String::new(), doc.clone()]);
            params::rows(solver).for_each(|row| listing.row(row));
        } else {
            let LibraryInfo { name, version, .. } = library;
            listing.row([id, solver.kind.as_str(), name, version, doc].map(str::to_owned).to_vec());
        }
    }
    listing.print(output)?;
    Ok(OK)
}

fn as_json(library: &LibraryInfo, solver: &SolverInfo) -> Value {
    json!({
        "id": solver.id,
        "kind": solver.kind,
        "plugin": library.name,
        "version": library.version,
        "doc": solver.doc,
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
