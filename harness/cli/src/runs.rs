//! Reads run folders, and prints and rebuilds their reports.

use std::path::Path;

use gpbench_record::Row;
use gpbench_report::{Frame, Run, WriteOptions, Written};
use gpbench_runs::{RunError, resolve_run};

use crate::args::{Format, FormatArg, Global, Wide};
use crate::exit::Failure;
use crate::notice::warn;
use crate::output;

/// Reads the run that a user names, and prints its warnings: one for each damaged line of the journal.
pub(crate) fn open(global: &Global, run: &str) -> Result<Run, Failure> {
    let folder = resolve_run(&global.output_dir, run).map_err(Failure::usage)?;
    open_folder(global, &folder)
}

/// Reads a run folder, and prints its warnings.
pub(crate) fn open_folder(global: &Global, folder: &Path) -> Result<Run, Failure> {
    let run = reopen(folder)?;
    for warning in &run.warnings {
        warn(global, warning);
    }
    Ok(run)
}

/// The rows of a run that a spec replays, or why they cannot be read. Prints the run's warnings.
pub(crate) fn rows(global: &Global, folder: &Path) -> Result<Vec<Row>, String> {
    open_folder(global, folder).map(|run| run.record.rows).map_err(|failure| failure.text)
}

/// Reads a run folder whose warnings have been printed.
pub(crate) fn reopen(folder: &Path) -> Result<Run, Failure> {
    Run::open(folder).map_err(Failure::internal)
}

/// The tables of a run, of which all reports are made.
pub(crate) fn frame(run: &Run) -> Result<Frame<'_>, Failure> {
    Frame::new(run).map_err(Failure::internal)
}

/// Writes the report's files into the run folder.
pub(crate) fn write_report(frame: &Frame<'_>) -> Result<Written, Failure> {
    frame.write(&WriteOptions::default()).map_err(|error| match error {
        gpbench_report::Error::Run(error) => failure(error),
        error => Failure::internal(error),
    })
}

/// The failure of the program for an error of a run folder.
pub(crate) fn failure(error: RunError) -> Failure {
    if error.is_users() { Failure::usage(error) } else { Failure::internal(error) }
}

/// Prints a run's tables of results, which its report has too: where this process has no standard output, nothing is lost.
pub(crate) fn print_tables(frame: &Frame<'_>, wide: Wide) -> Result<(), Failure> {
    let tables = frame.for_terminal(wide.width()).map_err(Failure::internal)?;
    if output::is_closed() { Ok(()) } else { output::print(&output::fitted(tables)) }
}

/// Prints a run's results.
pub(crate) fn print(frame: &Frame<'_>, output: FormatArg) -> Result<(), Failure> {
    let format = match output.format {
        Format::Table => return print_tables(frame, output.wide),
        Format::Json => gpbench_report::Format::Json,
        Format::Csv => gpbench_report::Format::Csv,
        Format::Md => gpbench_report::Format::Markdown,
    };
    output::print(&frame.export(format).map_err(Failure::internal)?)
}
