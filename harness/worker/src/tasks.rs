//! Tasks: what a case measures. Each has a module with its `run` and its `verify`.

mod learn;
mod likelihood;
mod posterior;
mod problem;
mod solve;
mod thompson;
mod train;

use gpbench_record::{Job, Message, Solved, Task, Verified};

use crate::failure::CaseError;
use crate::setup::Setup;

/// `gpbench-worker case`: loads the plugin, solves, and writes the solution to its file; `send` receives the messages
/// of the case.
///
/// Failures are classified as follows: a panic is `crashed`; memory that is unavailable is
/// `out_of_memory`; a matrix that is not positive definite in double precision, the
/// harness's or one that the plugin names as such, is `diverged`; everything else that a
/// plugin returns as an error is `invalid`, as is a library that cannot be used. A solution with numbers that are not finite is no failure
/// here: it is solved with reason `diverged`.
///
/// Data copies, references, checkpoints and libraries that cannot be read, files that cannot be written, and threads,
/// descriptors or memory that the system refuses are faults, not failures.
pub fn run(job: &Job, send: &mut dyn FnMut(Message)) -> Message {
    let mut plugin_ran = false;
    let send = &mut |message: Message| {
        plugin_ran |= message == Message::Loading;
        send(message);
    };
    solved(job, send).map_or_else(|error| error.message(plugin_ran), Message::Solved)
}

fn solved(job: &Job, send: &mut dyn FnMut(Message)) -> Result<Solved, CaseError> {
    let setup = Setup::new(job)?;
    let start = job.case.kernel.start.as_ref().map(|_| setup.kernel.hyperparameters());
    let solved = match &job.case.task {
        Task::Solve(task) => solve::run(&setup, task, send),
        Task::Posterior(task) => posterior::run(&setup, task, send),
        Task::Train(task) => train::run(&setup, task, send),
        Task::Likelihood(task) => likelihood::run(&setup, task, send),
        Task::Learn(task) => learn::run(&setup, task, send),
        Task::Thompson(task) => thompson::run(&setup, task, send),
    };
    Ok(Solved { start, ..solved? })
}

/// `gpbench-worker verify`: evaluates the solution of a case in a process that never loads the plugin, with rows and
/// right-hand sides drawn again.
///
/// For a solution that is not finite, only metrics that do not depend on it are returned.
pub fn verify(job: &Job) -> Message {
    verified(job).map_or_else(|error| error.message(false), Message::Verified)
}

fn verified(job: &Job) -> Result<Verified, CaseError> {
    let setup = Setup::new(job)?;
    match &job.case.task {
        Task::Solve(task) => solve::verify(&setup, task),
        Task::Posterior(task) => posterior::verify(&setup, task),
        Task::Train(_) => train::verify(),
        Task::Likelihood(task) => likelihood::verify(&setup, task),
        Task::Learn(task) => learn::verify(&setup, task),
        Task::Thompson(task) => thompson::verify(&setup, task),
    }
}
