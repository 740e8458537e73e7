//! `gpbench report`: rebuilds a run's report and prints its results.

use std::path::Path;

use gpbench_report::Run;

use crate::args::{Format, Global, Report};
use crate::exit::{Failure, OK, Outcome};
use crate::output::{self, Styles};

pub(crate) fn report(global: &Global, args: &Report) -> Outcome {
    let folder = gpbench_engine::resolve_run(&global.output_dir, &args.run).map_err(Failure::usage)?;
    let run = open(&folder)?;
    print(&run, args.format)?;
    match write(&run) {
        Ok(page) if !global.quiet && args.format == Format::Table => {
            eprintln!("\nreport: {}", page.display());
        }
        Ok(_) => {}
        // A run may lie where nothing can be written; it can be read all the same.
        Err(failure) => {
            let warning = Styles::new(global.color).warning("warning:");
            eprintln!("{warning} the run folder's report was not rebuilt: {}", failure.text);
        }
    }
    Ok(OK)
}

/// Reads a run folder.
pub(crate) fn open(folder: &Path) -> Result<Run, Failure> {
    Run::open(folder).map_err(Failure::internal)
}

/// Writes the report's files into the run folder; gives the page to open.
pub(crate) fn write(run: &Run) -> Result<std::path::PathBuf, Failure> {
    let written =
        gpbench_report::write_all(run, &gpbench_report::Options::default()).map_err(Failure::internal)?;
    Ok(written.html)
}

/// Prints a run's results.
pub(crate) fn print(run: &Run, format: Format) -> Result<(), Failure> {
    let text = match format {
        Format::Table => gpbench_report::text(run).map_err(Failure::internal)?,
        Format::Json => output::json(&gpbench_report::json(run)),
        Format::Csv => gpbench_report::csv(run).map_err(Failure::internal)?,
        Format::Md => gpbench_report::markdown(run).map_err(Failure::internal)?,
    };
    output::print(&text);
    Ok(())
}
