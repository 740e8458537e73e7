//! `gpbench merge`: unites the rows of several runs.

use std::path::PathBuf;

use clap::Args;
use gpbench_engine::{SystemClock, WallClock as _};
use gpbench_report::Run;
use gpbench_runs::{Merged, RunError, resolve_run, shards_of};

use crate::archive::Archive;
use crate::args::{Global, Wide};
use crate::exit::{CASE_FAILED, Failure, OK, Outcome};
use crate::notice::{say, warn};
use crate::runs;

/// Most shards that are named one by one.
const MOST_NAMED: usize = 20;

/// `gpbench merge`.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Run folders, packed runs, ids of runs or `NAME~1`, or the name of a spec, which stands for all of its shards. Of a case that several runs have, the first
    /// row counts that is no failure.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    wide: Wide,
}

pub(crate) fn merge(global: &Global, args: &Merge) -> Outcome {
    let found = args.runs.iter().map(|run| folders(global, run)).collect::<Result<Vec<_>, _>>()?.concat();
    let merged =
        gpbench_runs::merge(&global.output_dir, &found, SystemClock.now()).map_err(|error| match &error {
            RunError::Damaged { .. } => Failure::usage(format!(
                "{error}; run the spec of this run once more with the same options, which writes its plan again"
            )),
            error if error.is_users() => Failure::usage(error),
            error => Failure::internal(error),
        })?;
    merged.warnings.iter().for_each(|warning| warn(global, warning));
    let run = runs::reopen(&merged.folder)?;
    let archive = Archive::of(global, &run);
    let frame = archive.beside(&run)?;
    let page = runs::write_report(&frame)?.html;
    let mut printed = Ok(());
    if !global.quiet {
        printed = runs::print_tables(&frame, args.wide);
        say(format_args!("\n{}", summary(&merged, &run)));
        say(format_args!("report: {}", page.display()));
    }
    printed?;
    let failed = run.record.rows.iter().any(|row| row.status.is_failure());
    archive.end(global, if failed || merged.missing > 0 { CASE_FAILED } else { OK })
}

/// The run folders that an argument refers to.
fn folders(global: &Global, run: &str) -> Result<Vec<PathBuf>, Failure> {
    let shards = shards_of(&global.output_dir, run);
    if !shards.is_empty() {
        return Ok(shards);
    }
    resolve_run(&global.output_dir, run).map(|folder| vec![folder]).map_err(Failure::usage)
}

/// The summary of a merge: what was merged, and what is missing.
fn summary(merged: &Merged, run: &Run) -> String {
    let Merged { rows, missing, duplicates, plans, absent, .. } = merged;
    let mut text = format!("merged {} runs: {rows} rows", run.record.merged.len());
    if *duplicates > 0 {
        text += &format!(" ({duplicates} more were left out: another run has them too)");
    }
    if *plans > 1 {
        text += &format!("; they are of {plans} plans, which stand side by side");
    }
    if *missing > 0 {
        text += &format!("; {missing} cases have no row");
    }
    if !absent.is_empty() {
        let names: Vec<String> = absent.iter().take(MOST_NAMED).map(ToString::to_string).collect();
        let more = absent.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text += &format!(" (not among the runs: shards {}{more})", names.join(", "));
    }
    text
}
