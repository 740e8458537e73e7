//! `gpbench-node RUN TASK ATTEMPT SECONDS`: runs the cases of one attempt at a task of a cluster run, on the node that the
//! scheduler has chosen. The job has run for so many seconds before.
//!
//! It reads what to run from the run folder, runs it by the engine that local runs use, and appends what happens to
//! the part file of the attempt: its beginning and node, regular heartbeats, each case that starts, each row, and why
//! it ended. It writes only logs, checkpoints and solutions that are kept beside that, each in a file of its case, so
//! that any number of runners may share a run folder.
//!
//! It exits with 0 after its last case or where the job's time is too short for the next one, 75 after a signal, 76 where this
//! node cannot run the task, and 1 where it cannot go on.

#![forbid(unsafe_code)]

mod checkpoints;
mod local;
mod part;
mod place;
mod report;
mod task;
mod time;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use gpbench_engine::{
    Beginning, CaseWithoutRow, Engine, EngineError, Executor as _, Interrupt, LocalExecutor, Planned, Reused,
    RunOptions, RunSummary, SystemClock, Workload,
};
use gpbench_record::{Ending, InstructionSet, STATUS_INTERRUPTED, STATUS_UNFIT};
use gpbench_runs::{Attempts, RunFolder, Workspace};

use crate::checkpoints::Checkpoints;
use crate::part::{Part, PartRows};
use crate::task::{Stop, Task};

/// The signal that the scheduler sends before the end of the job's time: SIGUSR1.
const TIME_NEARLY_OVER: i32 = 10;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match attempt(&words) {
        Ok(Ending::Done | Ending::TimeOver) => ExitCode::SUCCESS,
        Ok(Ending::Signal { .. }) => ExitCode::from(STATUS_INTERRUPTED as u8),
        Ok(Ending::Unfit { .. }) => ExitCode::from(STATUS_UNFIT as u8),
        Ok(Ending::Failed { .. }) => ExitCode::FAILURE,
        Err(error) => {
            report::line(error);
            ExitCode::FAILURE
        }
    }
}

/// Runs the attempt that the command line names, and writes into its part file why it ends.
fn attempt(words: &[String]) -> Result<Ending, Box<dyn Error>> {
    let task = Task::read(words)?;
    let part = Arc::new(Part::open(&task)?);
    let ending = run(&task, &part).unwrap_or_else(|stop| {
        report::line(&stop);
        stop.ending()
    });
    part.end(&ending)?;
    Ok(ending)
}

/// Runs the cases of an attempt.
fn run(task: &Task, part: &Arc<Part>) -> Result<Ending, Stop> {
    let interrupt = Interrupt::on_signals().map_err(Stop::failed)?;
    InstructionSet::asked().map_err(Stop::unfit)?;
    let mut executor = LocalExecutor::open(&task.manifest.worker, task.threads(), 1).map_err(Stop::unfit)?;
    // So that our limit is reached before that of the job.
    executor.ceiling = place::job_memory();
    let environment = place::environment(task, executor.machine());
    place::require(task, &environment)?;
    part.begin(task, place::place(task), &environment)?;

    // Its presence keeps fronts from removing the folder of checkpoints when they end.
    let presence = RunFolder::at(&task.run).workspace().scratch().to_owned();
    std::fs::create_dir_all(&presence).map_err(Stop::failed)?;
    let local = local::folder(&std::env::temp_dir()).map_err(Stop::failed)?;
    let workspace = Workspace::of_attempt(&task.run, local.path(), &task.attempt.to_string());
    for path in workspace.folders() {
        std::fs::create_dir_all(path).map_err(Stop::failed)?;
    }
    let ids: Vec<String> = task.cases.iter().map(|planned| planned.id.clone()).collect();
    part.watch(Checkpoints::adopt(&workspace, task.attempt, &ids));
    let logs: Vec<_> = ids.iter().map(|id| workspace.log(id)).collect();
    executor.end_stale_processes(&logs);

    let mut rows = PartRows::new(Arc::clone(part), task.time, task.bounds());
    let work = Workload {
        cases: &task.cases,
        pending: task.planned().collect(),
        libraries: &task.manifest.libraries,
        workspace: &workspace,
        rows: &mut rows,
        attempts: Attempts::open(local.path()).map_err(Stop::failed)?,
        environment: &environment,
        beginning: Beginning::First,
        reused: Reused::default(),
        kept: task.kept.clone(),
    };
    let engine = Engine { executor: &executor, clock: &SystemClock, interrupt, renew_dataset: &lost_dataset };
    let (over, ends) = channel::<()>();
    let ran = std::thread::scope(|scope| {
        let interval = Duration::from_secs_f64(task.manifest.site.intervals.beat);
        scope.spawn(move || part.beat_until(&ends, interval));
        let ran = engine.run_work(work, &task.run, &options(task), &mut |event| report::event(&event));
        drop(over);
        ran
    });
    // One that is left is removed by the next front, once this process has ended.
    let _ = std::fs::remove_dir(&presence);
    ran.map(|summary| ending(&summary, rows.is_time_over)).map_err(|error| match error {
        EngineError::Program(_) | EngineError::Worker { .. } | EngineError::Memory { .. } => {
            Stop::unfit(error)
        }
        error => Stop::failed(error),
    })
}

/// The error of a data copy that cannot be read: only the front can make it again.
fn lost_dataset(planned: Planned<'_>) -> Result<(), String> {
    let file =
        planned.files.dataset_file.as_ref().map_or_else(String::new, |file| file.display().to_string());
    Err(format!("its copy {file} is made where the run was started"))
}

/// Options of the attempt.
fn options(task: &Task) -> RunOptions {
    let node = &task.manifest.options;
    RunOptions {
        cache_dir: node.cache_dir.clone(),
        kill_after_seconds: node.kill_after_seconds,
        cpu_seconds: node.cpu_seconds,
        memory_bytes: node.memory_bytes,
        ..RunOptions::default()
    }
}

/// Why an attempt that nothing has stopped is over. `is_time_over`: a case has not started for want of time.
fn ending(summary: &RunSummary, is_time_over: bool) -> Ending {
    match (summary.interrupted, summary.without_rows.first()) {
        _ if is_time_over => Ending::TimeOver,
        (Some(TIME_NEARLY_OVER), _) if summary.left > 0 => Ending::TimeOver,
        (Some(signal), _) if summary.left > 0 => Ending::Signal { signal },
        (_, Some(case)) => {
            let CaseWithoutRow { labels, reason, .. } = case;
            Ending::Failed { reason: format!("{labels}: {reason}; {}", case.advice()) }
        }
        _ => Ending::Done,
    }
}
