//! The node: its environment, and whether it can run the task.

use std::env;
use std::thread::available_parallelism;

use gpbench_cluster::LEAST_MEMORY;
use gpbench_engine::physical_memory;
use gpbench_files::host_name;
use gpbench_record::{Environment, NodePlace};

use crate::task::{Stop, Task};

/// Bytes of a job's memory that are left to the runner and to the system, so that our limits are reached before those of the job.
const RUNNER_BYTES: u64 = 256 << 20;

/// The node's environment: its machine, and what the run was started with. Memory is that of the machine: equal nodes are equal,
/// whatever a job asks for.
pub(crate) fn environment(task: &Task, machine: Environment) -> Environment {
    let Environment { gpbench, rustc, git_revision, git_dirty, spec_sha256, plugins, datasets, .. } =
        task.manifest.started_in.clone();
    let memory_bytes = physical_memory().unwrap_or(machine.memory_bytes);
    Environment {
        gpbench,
        rustc,
        git_revision,
        git_dirty,
        spec_sha256,
        plugins,
        datasets,
        memory_bytes,
        ..machine
    }
}

/// Whether the node can run the task as planned: ids of cases hold the instruction set and the core type of BLAS.
pub(crate) fn require(task: &Task, environment: &Environment) -> Result<(), Stop> {
    let threads = task.threads();
    let processors = available_parallelism().map_or(1, usize::from);
    if processors < threads {
        return Err(Stop::unfit(format!(
            "the task needs {threads} processors, and the job has {processors}"
        )));
    }
    for planned in &task.cases {
        let wanted = &planned.fingerprint;
        let pairs = [
            ("instruction set", &wanted.cpu_dispatch, &environment.cpu_dispatch),
            ("core type of BLAS", &wanted.blas_core, &environment.blas_core),
            ("worker", &wanted.worker_sha256, &environment.worker_sha256),
        ];
        if let Some((what, wanted, found)) = pairs.into_iter().find(|(_, wanted, found)| wanted != found) {
            return Err(Stop::unfit(format!(
                "the plan is for the {what} {wanted}, and this node has {found}"
            )));
        }
    }
    Ok(())
}

/// Where the attempt runs.
pub(crate) fn place(task: &Task) -> NodePlace {
    NodePlace {
        node: variable("SLURMD_NODENAME").unwrap_or_else(host_name),
        job: variable("SLURM_ARRAY_JOB_ID").and_then(|text| text.parse().ok()).unwrap_or_default(),
        attempt: task.attempt.attempt,
        shared: !task.manifest.site.ask.exclusive,
        suspended_seconds: 0.0,
    }
}

/// Bytes of memory that the job leaves to cases, where the scheduler bounds it.
pub(crate) fn job_memory() -> Option<u64> {
    let mebibytes: u64 = variable("SLURM_MEM_PER_NODE")?.parse().ok()?;
    (mebibytes > 0).then(|| left_to_cases(mebibytes.saturating_mul(1 << 20)))
}

/// The part of a job's memory that is left to cases: never less than an idle worker needs, so that no solver is blamed for a
/// job that is too small.
fn left_to_cases(bytes: u64) -> u64 {
    bytes.max(LEAST_MEMORY) - RUNNER_BYTES
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_is_too_small_leaves_cases_what_an_idle_worker_needs() {
        assert_eq!(left_to_cases(1 << 30), 768 << 20);
        assert_eq!([512, 256, 1].map(|mebibytes: u64| left_to_cases(mebibytes << 20)), [256 << 20; 3]);
    }
}
