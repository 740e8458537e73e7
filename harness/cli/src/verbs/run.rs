//! `gpbench run`: runs a spec, or continues its run where it stopped.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::Args;
use gpbench_engine::{RunSummary, Stop};

use crate::archive::Archive;
use crate::args::{Continuation, ExecutorArg, ExecutorArgs, Global, RunArgs, ShardArg, SpecArgs, Wide};
use crate::cluster::launch::Cluster;
use crate::cluster::{Until, command, settle};
use crate::debug::{DebugArgs, debug};
use crate::execute::{execute, exit_code};
use crate::exit::{Failure, OK, Outcome};
use crate::notice::{say, warn};
use crate::output::shell_command;
use crate::prepare::{Placement, Prepared, prepare};
use crate::progress::Progress;
use crate::runs;
use crate::verbs::cluster::{finish, report};

/// `gpbench run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    shard: ShardArg,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    executor: ExecutorArgs,
    #[command(flatten)]
    earlier: Continuation,
    #[command(flatten)]
    debug: DebugArgs,
    #[command(flatten)]
    wide: Wide,
}

pub(crate) fn run(global: &Global, args: &Run) -> Outcome {
    if args.debug.debug {
        return debug(global, &args.spec, &args.run, &args.debug);
    }
    if args.executor.executor == ExecutorArg::Slurm {
        return on_cluster(global, args);
    }
    if args.executor.detach || args.executor.cluster.is_some() {
        return Err(Failure::usage("`--detach` and `--cluster` belong to `--executor slurm`"));
    }
    let placement = Placement { shard: args.shard.shard, nodes: None };
    let prepared = prepare(global, &args.spec, &args.run, &placement)?;
    if is_empty_shard(args, &prepared) {
        return Ok(OK);
    }
    settle(global, &prepared, &args.earlier)?;
    let summary = execute(global, &prepared, &args.run, &args.earlier)?;
    let run = runs::reopen(&summary.folder)?;
    let archive = Archive::of(global, &run);
    let frame = archive.beside(&run)?;
    let written = runs::write_report(&frame);
    let mut printed = Ok(());
    if !global.quiet {
        printed = runs::print_tables(&frame, args.wide);
        if let Some(hint) = hint(&summary) {
            say(format_args!("\n{hint}"));
        }
        if let Ok(written) = &written {
            say(format_args!("\nreport: {}", written.html.display()));
        }
        if run.record.shard.is_some() && summary.left == 0 {
            say(format_args!("to unite all shards: {}", merge_command(global, &run.record.name)));
        }
    }
    if let Some(why) = ended_early(&summary) {
        let input =
            gpbench_spec::is_standard_input(&args.spec.spec).then(|| summary.folder.join("spec.toml"));
        say(format_args!("{why}; to continue: {}", resume_command(std::env::args_os(), input.as_deref())));
    }
    // All results are stored by now. An error of reporting them does not replace the exit code of a failed case.
    let failures = [lost_rows(&run, &summary), written.err(), printed.err(), archive.failure()];
    end(global, exit_code(&summary), failures.into_iter().flatten())
}

/// Ends with the first of these failures, unless a case has failed; the others are warnings.
fn end(global: &Global, code: u8, mut failures: impl Iterator<Item = Failure>) -> Outcome {
    let first = if code == OK { failures.next() } else { None };
    failures.for_each(|failure| warn(global, failure.text));
    first.map_or(Ok(code), Err)
}

/// The failure of a run whose journal lacks rows that it has written.
fn lost_rows(run: &gpbench_report::Run, summary: &RunSummary) -> Option<Failure> {
    let lost = run.record.missing.len().saturating_sub(summary.left);
    (lost > 0).then(|| {
        let journal = summary.folder.join("journal.jsonl");
        Failure::internal(format!(
            "{lost} rows of this run are no longer in {}: another program has changed it; run the same again, which takes \
             finished cases from the store and runs the others",
            journal.display()
        ))
    })
}

/// Whether the shard has no case; prints a message if so.
fn is_empty_shard(args: &Run, prepared: &Prepared) -> bool {
    let empty = args.shard.shard.filter(|_| prepared.plan.file.cases.is_empty());
    if let Some(shard) = empty {
        say(format_args!(
            "shard {shard} has no case: the plan has fewer data sets, kernels, estimators and seeds"
        ));
    }
    empty.is_some()
}

/// Runs a spec on a cluster.
fn on_cluster(global: &Global, args: &Run) -> Outcome {
    let RunArgs { jobs, max_failures, fail_fast, time_limit, .. } = &args.run;
    let given = [
        ("--jobs", jobs.get() > 1),
        ("--max-failures", max_failures.is_some()),
        ("--fail-fast", *fail_fast),
        ("--time-limit", time_limit.is_some()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::usage(format!(
            "`{option}` is of runs on this computer; on a cluster, `throttle`, `retries` and `time` are keys of its settings"
        )));
    }
    let mut spec = args.spec.clone();
    let cluster = Cluster::find(&args.executor, &mut spec)?;
    let placement = Placement { shard: args.shard.shard, ..cluster.placement(global) };
    let prepared = prepare(global, &spec, &args.run, &placement)?;
    if is_empty_shard(args, &prepared) {
        return Ok(OK);
    }
    let mut progress = Progress::plain(global);
    let (folder, sent) = cluster.launch(global, &prepared, &args.run, &args.earlier, &mut progress)?;
    let Some(mut run) = sent else { return report(global, folder.path(), None, args.wide) };
    let until = if args.executor.detach { Until::Sent } else { Until::Finished };
    let signal = run.drive(until, &mut progress)?;
    if signal.is_none() && !run.is_finished() {
        say(format_args!("{}; to continue: {}", run.sent(), command("watch", run.folder())));
        return run.close().map(|()| OK);
    }
    finish(global, run, signal, args.wide)
}

/// The command line that merges all shards of a spec that are beside this one's.
fn merge_command(global: &Global, name: &str) -> String {
    let words = ["gpbench", "merge", name].map(OsStr::new);
    let folder = [OsStr::new("--output-dir"), global.output_dir.as_os_str()];
    let is_default = global.output_dir == Path::new(crate::args::DEFAULT_OUTPUT_DIR);
    shell_command(words.into_iter().chain(folder.into_iter().filter(|_| !is_default)))
}

/// A hint about the next step after a run that has run all of its cases.
fn hint(summary: &RunSummary) -> Option<String> {
    let (failed, again) = (summary.failures(), summary.ran == 0);
    let hint = match (again, failed) {
        _ if summary.left > 0 => return None,
        (true, 0) => "nothing was left to run; `--fresh` runs everything again".to_owned(),
        (true, _) => format!(
            "nothing was left to run; `--retry-failed` runs the failed cases again ({failed}), `--fresh` everything"
        ),
        (false, 0) => return None,
        (false, _) => format!("failed cases: {failed}; `--retry-failed` runs them again"),
    };
    Some(hint)
}

/// Why a run ended without a row of every case, if it did.
fn ended_early(summary: &RunSummary) -> Option<String> {
    let why = match (summary.interrupted, summary.stopped) {
        _ if summary.left == 0 => return None,
        (Some(_), _) => "interrupted",
        (None, Some(Stop::Failures)) => "the limit on failures is reached",
        (None, Some(Stop::Time)) => "the limit on the run's time is reached",
        (None, None) if !summary.without_rows.is_empty() => "the machine or a file was at fault",
        (None, None) => return None,
    };
    Some(format!("{why}; {} of {} cases are left", summary.left, summary.total))
}

/// The command line that continues a run, quoted for a shell. `input` holds the spec that came from standard input.
fn resume_command(args: impl Iterator<Item = OsString>, input: Option<&Path>) -> String {
    let args: Vec<OsString> = args.filter(|arg| arg != "--fresh").collect();
    let command = shell_command(args.iter().map(OsString::as_os_str));
    match input {
        Some(file) => format!("{command} < {}", shell_command([file.as_os_str()].into_iter())),
        None => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resume_command_can_be_pasted_into_a_shell() {
        let args = ["gpbench", "run", "my spec.toml", "--fresh", "--set", "seeds=[0, 1]"].map(OsString::from);
        assert_eq!(resume_command(args.into_iter(), None), "gpbench run 'my spec.toml' --set 'seeds=[0, 1]'");
        let input = Some(Path::new("my runs/spec.toml"));
        let args = ["gpbench", "run", "-"].map(OsString::from);
        assert_eq!(resume_command(args.into_iter(), input), "gpbench run - < 'my runs/spec.toml'");
    }
}
