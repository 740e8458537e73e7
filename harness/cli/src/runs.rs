//! Reads run folders, and prints and rebuilds their reports.

use std::path::{Path, PathBuf};

use gpbench_record::Row;
use gpbench_report::{Frame, Run, WriteOptions, Written};
use gpbench_runs::{RunError, is_packed, resolve_run};

use crate::args::{Format, FormatArg, Global, Wide};
use crate::exit::Failure;
use crate::notice::{say, warn};
use crate::output;

/// Reads the run that a user names, and prints its warnings: one for each damaged line of the journal.
pub(crate) fn open(global: &Global, run: &str) -> Result<Run, Failure> {
    let folder = resolve_run(&global.output_dir, run).map_err(Failure::usage)?;
    let opened = open_folder(global, &folder)?;
    if !global.quiet && !Path::new(run).exists() {
        say(found(run, &opened));
    }
    Ok(opened)
}

/// The folder of the run that `--baseline` names, unpacked if it is packed; none where it is a baseline file, or is
/// to become one.
pub(crate) fn of_baseline(global: &Global, baseline: &Path) -> Result<Option<PathBuf>, Failure> {
    if baseline.is_dir() {
        return Ok(Some(baseline.to_owned()));
    }
    let is_file = baseline.exists() && !is_packed(baseline);
    let Some(run) = baseline.to_str().filter(|_| !is_file) else { return Ok(None) };
    match resolve_run(&global.output_dir, run) {
        Ok(folder) => Ok(Some(folder)),
        Err(RunError::NoSuchRun { .. }) => Ok(None),
        Err(error) => Err(Failure::usage(error)),
    }
}

/// What a name, an id or `latest` has found: the run, when its last case ended, and its rows.
fn found(name: &str, run: &Run) -> String {
    let id = run.record.folder.file_name().unwrap_or_default().to_string_lossy();
    let last = run.record.rows.iter().map(|row| row.finished.as_str()).max().unwrap_or_default();
    let date: String = last.chars().take(16).collect::<String>().replace('T', " ");
    let date = if date.is_empty() { date } else { format!("{date} UTC, ") };
    let rows = run.record.rows.len();
    let missing = match run.missing() {
        0 => String::new(),
        missing => format!(", {missing} more planned"),
    };
    format!("{name}: run {id} of {}, {date}{rows} rows{missing}", run.record.name)
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
    frame.write(&WriteOptions::default()).map_err(not_written)
}

/// The failure of the program for an error of a report that is written.
pub(crate) fn not_written(error: gpbench_report::Error) -> Failure {
    match error {
        gpbench_report::Error::Run(error) => failure(error),
        error @ gpbench_report::Error::TooLarge { .. } => Failure::usage(error),
        error => Failure::internal(error),
    }
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
pub(crate) fn print(frame: &Frame<'_>, wanted: FormatArg) -> Result<(), Failure> {
    let format = match wanted.format {
        Format::Table => return print_tables(frame, wanted.wide),
        Format::Bmf => return output::print(&output::pretty(&gpbench_report::bmf(frame))),
        Format::Json => gpbench_report::Format::Json,
        Format::Csv => gpbench_report::Format::Csv,
        Format::Md => gpbench_report::Format::Markdown,
        Format::Latex => gpbench_report::Format::Latex,
    };
    output::print(&frame.export(format).map_err(Failure::internal)?)
}
