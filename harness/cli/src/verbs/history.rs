//! `gpbench history`: a metric over the runs of a spec.

use std::collections::HashSet;
use std::path::PathBuf;

use clap::Args;
use gpbench_record::metric::Metric;
use gpbench_report::{History as Points, Run, history_chart};
use gpbench_runs::{list_runs, resolve_run};

use crate::args::{ChartArgs, Filter, Format, FormatArg, Global, metric_named};
use crate::exit::{Failure, OK, Outcome};
use crate::notice::{say, warn};
use crate::{output, runs};

/// `gpbench history`.
#[derive(Debug, Args)]
pub(crate) struct History {
    /// The name of a spec: all of its runs below the output folder are read.
    name: String,
    /// Further runs to show beside these, such as packed ones.
    #[arg(value_name = "RUN")]
    further: Vec<String>,
    /// What to show: a metric of `gpbench list metrics`.
    #[arg(short, long, value_name = "METRIC", default_value = "seconds", value_parser = metric_named)]
    metric: &'static Metric,
    /// Write a chart to this file, as SVG.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    #[command(flatten)]
    charts: ChartArgs,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    output: FormatArg,
}

pub(crate) fn history(global: &Global, args: &History) -> Outcome {
    let points = Points::new(&args.name, args.metric, &read(global, args)?).map_err(Failure::internal)?;
    if points.points.is_empty() {
        let metric = args.metric.name;
        return Err(Failure::nothing(format!(
            "no such case of the runs of `{}` has a `{metric}`",
            args.name
        )));
    }
    if let Some(file) = &args.chart {
        let chart = history_chart(&points, args.charts.form().unwrap_or_default());
        output::write_named(file, &chart.map_err(Failure::internal)?)?;
    }
    output::show(&points.table(), &points.json(), args.output)?;
    if let (Some(file), false, Format::Table) = (&args.chart, global.quiet, args.output.format) {
        say(format_args!("\nchart: {}", file.display()));
    }
    Ok(OK)
}

/// The runs of the spec and the further ones, with the cases that are chosen. One that cannot be read is left out with a warning.
fn read(global: &Global, args: &History) -> Result<Vec<Run>, Failure> {
    let folders = list_runs(&global.output_dir);
    let of_name =
        |folder: &&PathBuf| folder.parent().and_then(|parent| parent.file_name()) == Some(args.name.as_ref());
    let further: Vec<PathBuf> = args
        .further
        .iter()
        .map(|run| resolve_run(&global.output_dir, run).map_err(runs::failure))
        .collect::<Result<_, _>>()?;
    let own: Vec<&PathBuf> = folders.iter().filter(of_name).chain(&further).collect();
    if own.is_empty() {
        // The message names the specs that have runs.
        let missing = resolve_run(&global.output_dir, &args.name).err();
        let text = missing.map_or_else(|| format!("`{}` has no runs", args.name), |error| error.to_string());
        return Err(Failure::usage(text));
    }
    let (mut found, mut ids) = (Vec::new(), HashSet::new());
    for folder in own {
        match runs::open_folder(global, folder) {
            Ok(mut run) => {
                // A packed run may be beside its folder. Runs of two machines may have one name, but not the time of a plan too.
                let id = (run.record.name.clone(), folder.file_name(), run.record.created.clone());
                if !ids.insert(id) {
                    continue;
                }
                run.record.rows.retain(|row| args.filter.includes(&row.labels.solver, &row.labels.dataset));
                found.push(run);
            }
            Err(failure) => warn(global, &failure.text),
        }
    }
    Ok(found)
}
