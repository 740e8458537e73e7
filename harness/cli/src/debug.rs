//! `gpbench run --debug`: one case under a debugger or profiler, of which nothing is stored.

use std::cell::RefCell;
use std::ffi::OsString;
use std::iter::once;
use std::process::{Command, ExitStatus};

use clap::Args;
use gpbench_engine::{Engine, Event, Foreground, Interrupt, Planned, RunProgress, SingleCase, SystemClock};
use gpbench_record::{PlannedCase, Row};

use crate::args::{Continuation, Global, RunArgs, SpecArgs};
use crate::execute;
use crate::exit::{CASE_FAILED, Failure, OK, Outcome};
use crate::notice::say;
use crate::output::shell_command;
use crate::prepare::{Placement, Prepared, prepare};
use crate::progress::Progress;

/// Candidates that an error lists.
const MOST_NAMED: usize = 20;

/// `--debug`, its case and its program.
#[derive(Debug, Clone, Args)]
pub(crate) struct DebugArgs {
    /// Run exactly one case in this terminal, under the program after `--`: `--debug -- gdb --args`, `-- perf record`,
    /// `-- valgrind`, `-- rr record`. Limits are off, a budget of time too, and nothing is stored. `-d`, `-s`, `--seed` and
    /// `--case` choose the case.
    #[arg(long, conflicts_with_all = [
        "shard", "detach", "cluster", "fresh", "reuse", "retry_failed", "jobs", "kill_after", "cpu_limit", "memory_limit",
        "max_failures", "fail_fast", "time_limit", "executor",
    ])]
    pub(crate) debug: bool,
    /// The seed of the case to debug.
    #[arg(long, value_name = "N", requires = "debug")]
    seed: Option<u64>,
    /// The id of the case to debug, or its beginning. The list of candidates shows ids.
    #[arg(long, value_name = "ID", requires = "debug")]
    case: Option<String>,
    /// The program that the case is debugged with, and its arguments. The worker's command line follows them; without a program
    /// the worker runs alone.
    #[arg(last = true, value_name = "PROGRAM", requires = "debug")]
    program: Vec<OsString>,
}

pub(crate) fn debug(global: &Global, spec: &SpecArgs, run: &RunArgs, args: &DebugArgs) -> Outcome {
    let prepared = prepare(global, spec, run, &Placement::default())?;
    let place = only_case(&prepared.plan.file.cases, args)?;
    let folder = tempfile::Builder::new().prefix("gpbench-debug-").tempdir();
    let folder = folder.map_err(|error| Failure::internal(format!("no temporary folder: {error}")))?;
    let labels = &prepared.plan.file.cases[place].labels;
    let announce = |command: &Command| {
        let words = once(command.get_program()).chain(command.get_args());
        say(format_args!("debugging {labels}:\n{}", shell_command(words)));
    };
    let executor = Foreground::new(&prepared.executor, &args.program, folder.path(), &announce);
    let options = execute::options(global, &prepared, run, &Continuation::NONE);
    let progress = RefCell::new(Progress::plain(global));
    let Prepared { plan, renewal, .. } = &prepared;
    let renew = |planned: Planned<'_>| renewal.renew(global, planned);
    let interrupt = Interrupt::on_signals().map_err(Failure::internal)?;
    let engine = Engine { executor: &executor, clock: &SystemClock, interrupt, renew_dataset: &renew };
    let report = |event| progress.borrow_mut().show(event);
    match engine.debug(plan, place, folder.path(), &options, &report).map_err(execute::failure)? {
        SingleCase::Row(row) => Ok(show(*row, &report)),
        SingleCase::Unfinished => {
            say(unfinished(executor.status()));
            Ok(CASE_FAILED)
        }
        // The program could not be started.
        SingleCase::Fault(fault) if executor.status().is_none() => Err(Failure::usage(fault.reason)),
        SingleCase::Fault(fault) => Err(Failure::internal(fault.reason)),
    }
}

/// Prints the row of the case as a run does, and gives the exit code.
fn show(row: Row, report: &dyn Fn(Event)) -> u8 {
    let failed = row.status.is_failure();
    let progress = RunProgress { total: 1, done: 1, failed: usize::from(failed) };
    report(Event::CaseFinished { row: Box::new(row), progress });
    if failed { CASE_FAILED } else { OK }
}

/// The message about a case without a result.
fn unfinished(status: Option<ExitStatus>) -> String {
    let how = status.map(|status| format!(" ({status})")).unwrap_or_default();
    format!("the case has no result: what ran it ended before the solver did{how}")
}

/// The place of the one case that is chosen, of whose repeats the first counts.
///
/// # Errors
/// Names the candidates where there are several or none, and how to choose among them.
fn only_case(cases: &[PlannedCase], args: &DebugArgs) -> Result<usize, Failure> {
    let is_chosen = |case: &PlannedCase| {
        args.seed.is_none_or(|seed| case.labels.seed == seed)
            && args.case.as_ref().is_none_or(|id| case.id.starts_with(id.as_str()))
            && (case.labels.repeat == 0 || args.case.is_some())
    };
    let chosen: Vec<usize> = (0..cases.len()).filter(|place| is_chosen(&cases[*place])).collect();
    match chosen[..] {
        [place] => match &cases[place].skip {
            Some(reason) => Err(Failure::usage(format!("{}: {reason}", cases[place].labels))),
            None => Ok(place),
        },
        [] => Err(Failure::usage(format!("no case is chosen; there are:\n{}", listed(cases.iter())))),
        _ => Err(Failure::usage(format!(
            "`--debug` takes one case, and {} are chosen:\n{}\nto choose one: -d DATASET, -s SOLVER, --seed N, or --case ID",
            chosen.len(),
            listed(chosen.iter().map(|place| &cases[*place]))
        ))),
    }
}

/// The ids and names of cases, one a line, sorted by names.
fn listed<'a>(cases: impl Iterator<Item = &'a PlannedCase>) -> String {
    let mut cases: Vec<&PlannedCase> = cases.collect();
    cases.sort_by(|one, other| one.labels.cmp(&other.labels));
    let more = cases.len().saturating_sub(MOST_NAMED);
    let named = cases.iter().take(MOST_NAMED).map(|case| format!("  {}  {}", case.id, case.labels));
    let mut lines: Vec<String> = named.collect();
    if more > 0 {
        lines.push(format!("  and {more} more"));
    }
    lines.join("\n")
}
