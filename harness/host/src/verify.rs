//! `gpbench-worker verify`: judges a solution in a process that never saw the
//! plugin, from rows and right-hand sides drawn again.

use gpbench_record::{Failure, Job, Message, Verified};

use crate::case::{invalid, reference};
use crate::judge::Judge;
use crate::solution;
use crate::system::System;

/// Judges the solution of one case.
///
/// Of a solution that is not finite, only what does not depend on it is said.
pub fn run(job: &Job) -> Message {
    match verify(job) {
        Ok(verified) => Message::Verified(verified),
        Err(failure) => Message::Failed(failure),
    }
}

fn verify(job: &Job) -> Result<Verified, Failure> {
    let system = System::build(&job.case, job.dataset_file.as_deref(), job.threads).map_err(invalid)?;
    let exact = reference(job, &system)?;
    let solution = solution::read(&job.solution_file, system.n(), system.columns()).map_err(invalid)?;
    let judge = Judge::new(&system, exact.as_ref(), job.case.task);
    Ok(Verified { metrics: judge.verdict(solution.view()) })
}
