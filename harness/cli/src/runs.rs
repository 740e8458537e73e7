//! Reads run folders, and prints and rebuilds their reports.

use std::path::{Path, PathBuf};

use gpbench_runs::{RunRecord, resolve_run};

use crate::args::{Format, Global};
use crate::exit::Failure;
use crate::notice::warn;
use crate::output;

/// Reads the run that a user names, and prints a warning for each line of its journal that cannot be read.
pub(crate) fn open(global: &Global, run: &str) -> Result<RunRecord, Failure> {
    let folder = resolve_run(&global.output_dir, run).map_err(Failure::usage)?;
    open_folder(global, &folder)
}

/// The same, of a run folder.
pub(crate) fn open_folder(global: &Global, folder: &Path) -> Result<RunRecord, Failure> {
    let run = reopen(folder)?;
    for warning in run.warnings() {
        warn(global, warning);
    }
    Ok(run)
}

/// Reads a run folder whose warnings have been printed.
pub(crate) fn reopen(folder: &Path) -> Result<RunRecord, Failure> {
    RunRecord::open(folder).map_err(Failure::internal)
}

/// Writes the report's files into the run folder. Returns the page to open.
pub(crate) fn write_report(run: &RunRecord) -> Result<PathBuf, Failure> {
    let written =
        gpbench_report::write_all(run, &gpbench_report::Options::default()).map_err(Failure::internal)?;
    Ok(written.html)
}

/// Prints a run's results.
pub(crate) fn print(run: &RunRecord, format: Format) -> Result<(), Failure> {
    let text = match format {
        Format::Table => gpbench_report::text(run).map_err(Failure::internal)?,
        Format::Json => output::pretty(&gpbench_report::json(run)),
        Format::Csv => gpbench_report::csv(run).map_err(Failure::internal)?,
        Format::Md => gpbench_report::markdown(run).map_err(Failure::internal)?,
    };
    output::print(&text);
    Ok(())
}
