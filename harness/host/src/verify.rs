//! `gpbench-worker verify`: judges a solution in a process that never saw the
//! plugin, from rows and right-hand sides drawn again.

use gpbench_record::{Failure, Job, Message, Task, Verified};

use crate::case::{invalid, reference};
use crate::judge::Judge;
use crate::system::System;
use crate::{likelihood, line, solution};

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
    if job.case.task == Task::Likelihood {
        return Ok(Verified { metrics: likelihood::verify(job)?, curve: None });
    }
    let system = System::build(&job.case, job.dataset_file.as_deref(), job.threads).map_err(invalid)?;
    let exact = reference(job, &system)?;
    let (_, weights) = system.predictor().shape();
    let solution = solution::read(&job.solution_file, weights, system.columns()).map_err(invalid)?;
    let judge = Judge::new(&system, exact.as_ref(), job.case.task);
    let metrics = judge.verdict(solution.view());
    let curve = match job.case.task {
        Task::Posterior => {
            let exact = exact.as_ref().and_then(|exact| exact.line.as_ref());
            line::curve(&system, exact, solution.view()).map_err(invalid)?
        }
        Task::Solve | Task::Train | Task::Likelihood => None,
    };
    Ok(Verified { metrics, curve: curve.map(Box::new) })
}
