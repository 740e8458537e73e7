//! `gpbench status`, `watch` and `cancel`: runs on a cluster.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use gpbench_cluster::{ClusterFolder, FrontSummary};
use gpbench_runs::{Journal, RunError, RunFolder, resolve_run};

use crate::archive::Archive;
use crate::args::{Global, Wide};
use crate::cluster::{ClusterRun, Until, command, poll};
use crate::exit::{CASE_FAILED, Failure, OK, Outcome, of_signal};
use crate::notice::say;
use crate::output;
use crate::progress::Progress;
use crate::runs;

/// `gpbench status`.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// A run folder, the name of a spec (its latest run), `NAME~1` (the run before that), the id of a run or its beginning, or
    /// `latest`.
    #[arg(default_value = "latest")]
    run: String,
}

/// `gpbench watch`.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// A run folder, the name of a spec (its latest run), `NAME~1` (the run before that), the id of a run or its beginning, or
    /// `latest`.
    #[arg(default_value = "latest")]
    run: String,
    #[command(flatten)]
    wide: Wide,
}

/// `gpbench cancel`.
#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// A run folder, the name of a spec (its latest run), `NAME~1` (the run before that), the id of a run or its beginning, or
    /// `latest`.
    #[arg(default_value = "latest")]
    run: String,
}

pub(crate) fn status(global: &Global, args: &Status) -> Outcome {
    let folder = folder(global, &args.run)?;
    let text = match Journal::open(&folder) {
        Ok((journal, _)) => {
            let mut run = ClusterRun::open(RunFolder::at(&folder), journal, &HashSet::new(), false)?;
            let text = run.poll(&mut Progress::quiet(global))?;
            let FrontSummary { waiting, ended, unanswered, given_up, .. } = run.summary();
            match waiting + ended + unanswered + given_up.len() {
                0 => text,
                _ => format!(
                    "{text}\n  nothing more is sent until this command continues the run: {}",
                    command("watch", &folder)
                ),
            }
        }
        Err(RunError::Busy { holder, .. }) => {
            let holder = holder.map(|holder| format!(" ({holder})")).unwrap_or_default();
            format!("{}\n  another gpbench{holder} is running it", poll(global, &folder)?)
        }
        Err(error) => return Err(Failure::internal(error)),
    };
    output::print(&text)?;
    Ok(OK)
}

pub(crate) fn watch(global: &Global, args: &Watch) -> Outcome {
    let mut run = open(global, &args.run, true)?;
    let signal = run.drive(Until::Finished, &mut Progress::plain(global))?;
    finish(global, run, signal, args.wide)
}

pub(crate) fn cancel(global: &Global, args: &Cancel) -> Outcome {
    let mut run = open(global, &args.run, false)?;
    run.end();
    let ended = run.drive(Until::Finished, &mut Progress::plain(global));
    let (cancelled, living, again) = (run.cancelled(), run.living(), command("cancel", run.folder()));
    let left = living.map(|living| format!("\n{living}; to try again: {again}")).unwrap_or_default();
    run.close()?;
    match ended {
        Ok(None) => {
            say(cancelled);
            Ok(OK)
        }
        Ok(Some(signal)) => {
            say(format_args!("interrupted; {cancelled}{left}"));
            Ok(of_signal(signal))
        }
        Err(Failure { text, .. }) => {
            Err(Failure { code: CASE_FAILED, text: format!("{text}\n{cancelled}{left}") })
        }
    }
}

/// Writes and prints the report of a cluster run when this process ends its work on it. The exit code is that of a local run.
pub(crate) fn finish(global: &Global, run: ClusterRun, signal: Option<i32>, wide: Wide) -> Outcome {
    let (folder, living) = (run.folder().to_owned(), run.living());
    run.close()?;
    let outcome = report(global, &folder, signal, wide);
    if let Some(living) = living {
        let [watch, cancel] = ["watch", "cancel"].map(|verb| command(verb, &folder));
        say(format_args!("{living}; to continue: {watch}; to end them: {cancel}"));
    }
    outcome
}

/// Writes and prints the report of a run.
pub(crate) fn report(global: &Global, folder: &Path, signal: Option<i32>, wide: Wide) -> Outcome {
    let run = runs::reopen(folder)?;
    let archive = Archive::of(global, &run);
    let frame = archive.beside(&run)?;
    let page = runs::write_report(&frame)?.html;
    if !global.quiet {
        runs::print_tables(&frame, wide)?;
        say(format_args!("\nreport: {}", page.display()));
    }
    let failed = run.record.rows.iter().any(|row| row.status.is_failure());
    let code = match signal {
        Some(signal) if run.missing() > 0 => of_signal(signal),
        _ if failed || run.missing() > 0 => CASE_FAILED,
        _ => OK,
    };
    archive.end(global, code)
}

fn open(global: &Global, run: &str, resume: bool) -> Result<ClusterRun, Failure> {
    let folder = folder(global, run)?;
    let (journal, _) = Journal::open(&folder).map_err(|error| match error {
        busy @ RunError::Busy { .. } => Failure::usage(busy),
        error => Failure::internal(error),
    })?;
    ClusterRun::open(RunFolder::at(&folder), journal, &HashSet::new(), resume)
}

/// The folder of a run that was sent to a cluster.
fn folder(global: &Global, run: &str) -> Result<PathBuf, Failure> {
    let folder = resolve_run(&global.output_dir, run).map_err(Failure::usage)?;
    if ClusterFolder::of(&folder).ledger().exists() {
        return Ok(folder);
    }
    Err(Failure::usage(format!(
        "{} was not sent to a cluster: `gpbench run SPEC --executor slurm` does that",
        folder.display()
    )))
}
