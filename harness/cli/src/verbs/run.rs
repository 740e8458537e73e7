//! `gpbench run`: runs a spec, or goes on with it where it stopped.

use std::num::NonZeroUsize;

use gpbench_engine::{Engine, Interrupt, LocalExecutor, Options, Stop, Summary, SystemClock};

use super::report;
use crate::args::{Format, Global, Run, RunArgs};
use crate::exit::{CASE_FAILED, Failure, OK, Outcome};
use crate::prepare::{Prepared, prepare};
use crate::progress::Progress;

/// A run that is likely to take this many seconds says so before it starts.
const WORTH_SAYING: f64 = 60.0;

pub(crate) fn run(global: &Global, args: &Run) -> Outcome {
    let mut prepared = prepare(global, &args.spec, &args.run)?;
    let summary = execute(global, &mut prepared, &args.run)?;
    let run = report::open(&summary.folder)?;
    let page = report::write(&run)?;
    if !global.quiet {
        report::print(&run, Format::Table)?;
        if summary.ran == 0 {
            eprintln!("\nnothing was left to run; `--fresh` runs everything again");
        }
        eprintln!("\nreport: {}", page.display());
    }
    if let Some(why) = ended_early(&summary) {
        eprintln!("{why}; to go on: {}", resume_command(std::env::args()));
    }
    Ok(ends(&summary))
}

/// Why a sitting ended before its last case, if it did.
fn ended_early(summary: &Summary) -> Option<String> {
    let why = match (summary.interrupted, summary.stopped) {
        (Some(_), _) => "interrupted",
        (None, Some(Stop::Failures)) => "as many cases have failed as may",
        (None, Some(Stop::Time)) => "the run's time is over",
        (None, None) => return None,
    };
    let missing = summary.total - summary.statuses.values().sum::<usize>();
    Some(format!("{why}; {missing} of {} cases are left", summary.total))
}

/// The command line that goes on with a run, as a shell would take it.
fn resume_command(args: impl Iterator<Item = String>) -> String {
    let args: Vec<String> = args.filter(|arg| arg != "--fresh").collect();
    shlex::try_join(args.iter().map(String::as_str)).expect("an argument never holds a NUL byte")
}

/// Runs what a prepared plan still lacks.
pub(crate) fn execute(global: &Global, prepared: &mut Prepared, args: &RunArgs) -> Result<Summary, Failure> {
    let options = Options {
        output_dir: global.output_dir.clone(),
        cache_dir: prepared.cache.clone(),
        threads: prepared.threads,
        jobs: args.jobs.get(),
        fresh: args.fresh,
        retry_failed: args.retry_failed,
        exact_limit: args.exact_limit,
        kill_after_seconds: args.kill_after,
        cpu_seconds: args.cpu_limit,
        memory_bytes: args.memory_limit,
        max_failures: if args.fail_fast { Some(1) } else { args.max_failures.map(NonZeroUsize::get) },
        time_limit_seconds: args.time_limit,
    };
    let mut executor = LocalExecutor::new(&prepared.worker.file);
    executor.environment = prepared.blas_settings.clone();
    prepared.plan.environment.limits = executor.enforcement().to_owned();
    let interrupt = Interrupt::on_signals().map_err(Failure::internal)?;
    let engine = Engine { executor: &executor, clock: &SystemClock, interrupt };
    let mut progress = Progress::new(global);
    if prepared.outlook.seconds >= WORTH_SAYING {
        progress.announce(&prepared.outlook.text);
    }
    let summary = engine.run(&prepared.plan, &options, &mut |event| progress.show(event));
    progress.end();
    summary.map_err(Failure::internal)
}

/// The exit code of a sitting.
pub(crate) fn ends(summary: &Summary) -> u8 {
    match summary.interrupted {
        Some(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        None if summary.failures() > 0 || !summary.is_complete() => CASE_FAILED,
        None => OK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resume_command_can_be_pasted_into_a_shell() {
        let args = ["gpbench", "run", "my spec.toml", "--fresh", "--set", "seeds=[0, 1]"].map(String::from);
        assert_eq!(resume_command(args.into_iter()), "gpbench run 'my spec.toml' --set 'seeds=[0, 1]'");
    }
}
