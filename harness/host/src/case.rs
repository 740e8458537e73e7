//! `gpbench-worker case`: loads the plugin, solves, writes the solution down.
//!
//! How a failure counts: a panic is `crashed`; memory that cannot be had is
//! `out_of_memory`; everything else that a plugin returns as an error, a matrix
//! that is not positive definite included, is `invalid`, as is a library that
//! cannot be used. A solution with numbers that are not finite is no failure
//! here: it is solved with reason `diverged`.

use std::sync::Arc;

use gpbench_abi::capability;
use gpbench_gp::thread_pool;
use gpbench_record::{Case, Failure, Job, Message, Solved, Status, StopReason, Task};
use ndarray::{Array2, CowArray, Ix2, ShapeBuilder};
use rand::Rng;

use crate::exact_file::{self, Reference};
use crate::judge::Judge;
use crate::plugin::{
    CallError, Ending, HostTable, Library, Moment, Session, SolverEntry, SolverObject, Terms,
};
use crate::system::{self, System};
use crate::trace::Trace;
use crate::{likelihood, process, solution, train};

/// Runs one case and says how it went; `send` takes the trace along the way.
pub fn run(job: &Job, send: &mut dyn FnMut(Message)) -> Message {
    let outcome = match job.case.task {
        Task::Train => train::run(job, send),
        Task::Likelihood => likelihood::run(job),
        Task::Solve | Task::Posterior => solve(job, send),
    };
    match outcome {
        Ok(solved) => Message::Solved(solved),
        Err(failure) => Message::Failed(failure),
    }
}

fn solve(job: &Job, send: &mut dyn FnMut(Message)) -> Result<Solved, Failure> {
    let data =
        system::rows(&job.case.dataset, job.case.seed, job.dataset_file.as_deref()).map_err(invalid)?;
    let loaded = process::seconds_since_start();
    let mut system =
        System::pose(&job.case, Arc::new(data), thread_pool(job.threads), None).map_err(invalid)?;
    let exact = reference(job, &system)?;
    let pose_seconds = process::seconds_since_start() - loaded;
    let base_memory_bytes = process::peak_memory_bytes();

    let host = HostTable::new(Some(system.operator.pool().clone()));
    let library = Library::load(&job.plugin_file, host).map_err(invalid)?;
    let entry = library.solver(&job.case.solver.plugin).map_err(invalid)?;
    refuse_inducing_points(entry, &job.case)?;
    let mut solver = SolverObject::create(entry, library.host(), &job.case.solver.params).map_err(failure)?;
    keep_entries(&solver, &mut system, job, base_memory_bytes)?;

    let mut x = Array2::zeros((system.m(), system.columns()).f());
    let judge = Judge::new(&system, exact.as_ref(), job.case.task);
    let startup_seconds = process::seconds_since_start() - pose_seconds;
    let (mut ending, weights) = attempt(&mut solver, &system, terms(job, &system), judge, &mut x, send)?;
    // Before the solution counts: a plugin that falls over while it tidies up has corrupted something.
    drop(solver);

    if !weights.iter().all(|value| value.is_finite()) {
        ending.reason = StopReason::Diverged;
    }
    solution::write(&job.solution_file, weights.view()).map_err(invalid)?;
    Ok(Solved {
        n: system.n(),
        d: system.d(),
        reason: ending.reason,
        iterations: ending.iterations,
        claimed: ending.claimed,
        prepare: ending.prepare,
        solve: ending.solve,
        entries: ending.entries,
        peak_memory_bytes: process::peak_memory_bytes(),
        base_memory_bytes,
        kept_bytes: system.kept_bytes() as u64,
        startup_seconds,
        pose_seconds,
        values: ending.values,
        trained: None,
    })
}

/// Solves under observation and closes the trace. Answers the weights that were found.
fn attempt<'x>(
    solver: &mut SolverObject,
    system: &System,
    terms: Terms,
    judge: Judge,
    x: &'x mut Array2<f64>,
    send: &mut dyn FnMut(Message),
) -> Result<(Ending, CowArray<'x, f64, Ix2>), Failure> {
    let mut trace = Trace::new(judge, send);
    let session = Session::new(system, terms, process::now, &mut trace);
    let ending = solver.run(&session, x).map_err(failure)?;
    drop(session);
    let moment = Moment {
        iteration: ending.iterations,
        seconds: ending.prepare.wall + ending.solve.wall,
        epochs: ending.entries.used / (system.n() as f64).powi(2),
        claimed: &ending.claimed,
    };
    let weights = system.weights(x.view().into());
    trace.close(moment, weights.view());
    Ok((ending, weights))
}

/// The exact reference that the job names, if it does.
pub(crate) fn reference(job: &Job, system: &System) -> Result<Option<Reference>, Failure> {
    let Some(file) = &job.exact_file else { return Ok(None) };
    exact_file::read(file, system.n(), system.data.x_test.nrows()).map(Some).map_err(invalid)
}

fn terms(job: &Job, system: &System) -> Terms {
    let Case { budget, .. } = &job.case;
    Terms {
        tolerance: budget.tolerance,
        max_epochs: budget.max_epochs,
        seconds: budget.seconds,
        threads: job.threads,
        seed: system.streams.stream("solver").next_u64(),
    }
}

/// Refuses inducing points for a solver that does not know of them.
fn refuse_inducing_points(entry: &SolverEntry, case: &Case) -> Result<(), Failure> {
    if case.solver.inducing.is_some() && !entry.can(capability::INDUCING) {
        return Err(invalid(format!("solver `{}` does not take inducing points", entry.info.id)));
    }
    Ok(())
}

/// Share of the memory that would be left unused that kernel entries may take: estimates are rough.
const KEPT_SHARE: f64 = 0.75;

/// Lets the system keep as many kernel entries as the solve leaves room for. Refuses a solve that cannot fit
/// before it is tried.
pub(crate) fn keep_entries(
    solver: &SolverObject,
    system: &mut System,
    job: &Job,
    base: u64,
) -> Result<(), Failure> {
    let spare = spare_memory(solver, system, job, base)?;
    system.keep_entries((KEPT_SHARE * spare) as usize);
    Ok(())
}

/// Bytes that a solve leaves of what it may use, by its own estimate; 0 where nothing is said of memory.
/// Refuses a solve that cannot fit before it is tried.
fn spare_memory(solver: &SolverObject, system: &System, job: &Job, base: u64) -> Result<f64, Failure> {
    let bounds = [job.case.budget.memory_bytes, job.limits.memory_bytes];
    let Some(bound) = bounds.into_iter().flatten().min() else { return Ok(0.0) };
    let (rows, _) = system.matrix().shape();
    let estimate = solver.estimate(rows, system.d(), system.columns()).map_err(failure)?;
    let needed = base as f64 + estimate;
    if needed <= bound as f64 {
        return Ok(bound as f64 - needed);
    }
    let reason = format!(
        "the solver would need about {} of memory, {} of it for the data; the budget is {}",
        mebibytes(needed),
        mebibytes(base as f64),
        mebibytes(bound as f64)
    );
    Err(Failure { status: Status::OutOfMemory, reason })
}

fn mebibytes(bytes: f64) -> String {
    format!("{:.0} MiB", bytes / f64::from(1 << 20))
}

pub(crate) fn invalid(reason: impl ToString) -> Failure {
    Failure { status: Status::Invalid, reason: reason.to_string() }
}

/// How an error of the plugin counts.
pub(crate) fn failure(error: CallError) -> Failure {
    let status = match &error {
        CallError::Panicked { .. } => Status::Crashed,
        CallError::OutOfMemory { .. } => Status::OutOfMemory,
        CallError::Parameter { .. } | CallError::Refused { .. } | CallError::Nonsense { .. } => {
            Status::Invalid
        }
    };
    Failure { status, reason: error.to_string() }
}
