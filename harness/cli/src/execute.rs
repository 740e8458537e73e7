//! Runs the cases of a plan that have no row.

use std::num::NonZeroUsize;

use gpbench_engine::{
    CaseWithoutRow, Engine, EngineError, Interrupt, Planned, RunOptions, RunSummary, SystemClock,
};
use gpbench_record::disturbance;

use crate::args::{Continuation, Global, RunArgs};
use crate::exit::{CASE_FAILED, Failure, OK, of_signal};
use crate::notice::warn;
use crate::prepare::Prepared;
use crate::progress::Progress;

/// A run estimated to take at least this many seconds prints its estimate.
const LONG_RUN: f64 = 60.0;
/// Cases without rows that are named.
const MOST_NAMED: usize = 20;

/// Runs the cases of a prepared plan that have no row, and shows progress.
pub(crate) fn execute(
    global: &Global,
    prepared: &Prepared,
    args: &RunArgs,
    earlier: &Continuation,
) -> Result<RunSummary, Failure> {
    let options = options(global, prepared, args, earlier);
    let interrupt = Interrupt::on_signals().map_err(Failure::internal)?;
    let renew = |planned: Planned<'_>| prepared.renewal.renew(global, planned);
    let engine =
        Engine { executor: &prepared.executor, clock: &SystemClock, interrupt, renew_dataset: &renew };
    let mut progress = Progress::new(global, &prepared.estimate);
    if prepared.estimate.seconds >= LONG_RUN {
        progress.announce(&prepared.estimate.text);
    }
    let summary = engine.run(&prepared.plan, &options, &mut |event| progress.show(event));
    progress.end();
    let summary = summary.map_err(failure)?;
    disturbance(summary.other_load).iter().for_each(|text| warn(global, text));
    cases_without_rows(&summary).iter().for_each(|text| warn(global, text));
    Ok(summary)
}

/// The failure of the program for an error of the engine.
pub(crate) fn failure(error: EngineError) -> Failure {
    match &error {
        EngineError::Memory { .. } | EngineError::Program(_) => Failure::usage(error),
        EngineError::Run(run) if run.is_users() => Failure::usage(error),
        _ => Failure::internal(error),
    }
}

/// The options that the engine gets.
pub(crate) fn options(
    global: &Global,
    prepared: &Prepared,
    args: &RunArgs,
    earlier: &Continuation,
) -> RunOptions {
    RunOptions {
        output_dir: global.output_dir.clone(),
        cache_dir: prepared.cache.clone(),
        keep_solutions: args.keep_solutions,
        jobs: args.jobs.get(),
        fresh: earlier.fresh,
        retry_failed: earlier.retry_failed,
        reuse: earlier.reuse(),
        kill_after_seconds: args.kill_after,
        cpu_seconds: args.cpu_limit,
        memory_bytes: args.memory_limit,
        max_failures: if args.fail_fast { Some(1) } else { args.max_failures.map(NonZeroUsize::get) },
        time_limit_seconds: args.time_limit,
    }
}

/// Warnings about cases that have no row because the machine or a file was at fault: the first ones by name, and each
/// remedy once.
fn cases_without_rows(summary: &RunSummary) -> Vec<String> {
    let cases = &summary.without_rows;
    let case = |case: &CaseWithoutRow| format!("no row: {}: {}", case.labels, case.reason);
    let mut texts: Vec<String> = cases.iter().take(MOST_NAMED).map(case).collect();
    if cases.len() > MOST_NAMED {
        texts.push(format!("no row: {} further cases", cases.len() - MOST_NAMED));
    }
    let mut needs: Vec<&str> = cases.iter().map(CaseWithoutRow::advice).collect();
    needs.sort_unstable();
    needs.dedup();
    texts.extend(needs.into_iter().map(|need| format!("what is needed: {need}")));
    texts
}

/// The exit code of a run. A signal that came after the last case has interrupted nothing.
pub(crate) fn exit_code(summary: &RunSummary) -> u8 {
    match summary.interrupted.filter(|_| summary.left > 0) {
        Some(signal) => of_signal(signal),
        None if summary.failures() > 0 || !summary.is_complete() => CASE_FAILED,
        None => OK,
    }
}
