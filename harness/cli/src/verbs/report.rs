//! `gpbench report`: prints a run's results and rebuilds its report.

use std::path::{Path, PathBuf};

use clap::Args;
use gpbench_report::Frame;

use crate::archive::Archive;
use crate::args::{ChartArgs, Format, FormatArg, Global};
use crate::exit::{Failure, OK, Outcome};
use crate::notice::{say, warn};
use crate::{neutral, output, pdf, runs};

/// `gpbench report`.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A run folder, the name of a spec (its latest run), `NAME~1` (the run before that), the id of a run or its beginning,
    /// `latest`, or a packed run.
    #[arg(default_value = "latest")]
    run: String,
    /// Write the charts as PDF too, beside the SVG files; needs the program rsvg-convert.
    #[arg(long)]
    pdf: bool,
    #[command(flatten)]
    charts: ChartArgs,
    /// Write the report as one file to send: a page with its charts, tables, spec and CSV inside, in place of an earlier file.
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
    /// Write the report to this folder too, with the files that it is made of, to keep under version control. The home, working
    /// and temporary folders and the host's name are replaced by neutral names, which are listed.
    #[arg(long, value_name = "FOLDER")]
    publish: Option<PathBuf>,
    #[command(flatten)]
    output: FormatArg,
}

pub(crate) fn report(global: &Global, args: &Report) -> Outcome {
    let run = runs::open(global, &args.run)?;
    let archive = Archive::of(global, &run);
    // The files are rebuilt whether or not the results can be printed.
    let frame = archive.beside(&run)?;
    let printed = runs::print(&frame, args.output);
    // Before the report, which names the charts of the earlier one.
    let mut charts = for_paper(&frame, args)?;
    match runs::write_report(&frame) {
        Ok(written) => {
            if !global.quiet && args.output.format == Format::Table {
                say(format_args!("\nreport: {}", written.html.display()));
            }
            if args.pdf && charts.is_empty() {
                charts = pdf::write(&written.figures)?;
            }
        }
        // There is no result then.
        Err(failure) if output::is_closed() => return Err(failure),
        // A run can be read where nothing can be written.
        Err(failure) => {
            warn(global, format!("the report in the run folder was not rebuilt: {}", failure.text))
        }
    }
    for chart in charts.iter().filter(|_| !global.quiet) {
        say(format_args!("chart: {}", chart.display()));
    }
    others(global, &frame, args)?;
    printed?;
    archive.end(global, OK)
}

/// Writes the charts for a paper, where their form is not that of a page; their paths.
fn for_paper(frame: &Frame<'_>, args: &Report) -> Result<Vec<PathBuf>, Failure> {
    let Some(form) = args.charts.form() else { return Ok(Vec::new()) };
    let mut charts = frame.write_for_paper(form).map_err(runs::not_written)?;
    if args.pdf {
        charts.extend(pdf::write(&charts)?);
    }
    Ok(charts)
}

/// Writes the report to the other places that were asked for.
fn others(global: &Global, frame: &Frame<'_>, args: &Report) -> Result<(), Failure> {
    let told = |what: &str, path: &Path| {
        if !global.quiet {
            say(format_args!("{what}: {}", path.display()));
        }
    };
    if let Some(file) = &args.bundle {
        output::write_named(file, &frame.bundle().map_err(Failure::internal)?)?;
        told("bundle", file);
    }
    if let Some(folder) = &args.publish {
        let replaced = frame.publish(folder, &neutral::names()).map_err(runs::not_written)?;
        told("published", folder);
        neutral::tell(global, &replaced);
    }
    Ok(())
}
