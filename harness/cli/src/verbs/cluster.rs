//! `gpbench status`, `watch` and `cancel`: runs on a cluster.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use gpbench_cluster::ClusterFolder;
use gpbench_runs::{Journal, RunError, RunFolder, resolve_run};

use crate::args::{Global, Wide};
use crate::cluster::{ClusterRun, Until};
use crate::exit::{CASE_FAILED, Failure, OK, Outcome};
use crate::notice::say;
use crate::output;
use crate::progress::Progress;
use crate::runs;

/// `gpbench status`.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// A run folder, the name of a spec (its latest run), or `latest`.
    #[arg(default_value = "latest")]
    run: String,
}

/// `gpbench watch`.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// A run folder, the name of a spec (its latest run), or `latest`.
    #[arg(default_value = "latest")]
    run: String,
    #[command(flatten)]
    wide: Wide,
}

/// `gpbench cancel`.
#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// A run folder, the name of a spec (its latest run), or `latest`.
    #[arg(default_value = "latest")]
    run: String,
}

pub(crate) fn status(global: &Global, args: &Status) -> Outcome {
    let folder = folder(global, &args.run)?;
    let text = match Journal::open(&folder) {
        Ok((journal, _)) => {
            let mut run = ClusterRun::open(RunFolder::at(&folder), journal, &HashSet::new(), false)?;
            run.look(&mut Progress::quiet(global))?
        }
        // The gpbench that goes on with the run has written it.
        Err(RunError::Busy { .. }) => fs::read_to_string(folder.join("cluster/status.txt"))
            .unwrap_or_else(|_| "it is being sent".to_owned()),
        Err(error) => return Err(Failure::internal(error)),
    };
    output::print(text.trim_end())?;
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
    run.drive(Until::Finished, &mut Progress::plain(global))?;
    let folder = run.folder().to_owned();
    run.close()?;
    say(format_args!("cancelled; what has come is in {}", folder.display()));
    Ok(OK)
}

/// Writes and prints the report of a cluster run that this process leaves. The exit code is that of a local run.
pub(crate) fn finish(global: &Global, run: ClusterRun, signal: Option<i32>, wide: Wide) -> Outcome {
    let folder = run.folder().to_owned();
    run.close()?;
    report(global, &folder, signal, wide)
}

/// Writes and prints the report of a run.
pub(crate) fn report(global: &Global, folder: &Path, signal: Option<i32>, wide: Wide) -> Outcome {
    let run = runs::reopen(folder)?;
    let page = runs::write_report(&run)?.html;
    if !global.quiet {
        runs::print_tables(&run, wide)?;
        say(format_args!("\nreport: {}", page.display()));
    }
    let failed = run.rows.iter().any(|row| row.status.is_failure());
    Ok(match signal {
        Some(signal) if run.missing > 0 => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        _ if failed || run.missing > 0 => CASE_FAILED,
        _ => OK,
    })
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
