//! Workers as processes of this machine.
//!
//! Each worker leads a process group of its own, so that Ctrl-C at the terminal reaches only gpbench, which then ends its
//! workers in order. If gpbench itself is killed, workers end by themselves: as its first act a worker asks the system for
//! SIGKILL at its parent's death (`PR_SET_PDEATHSIG`), and ends if its parent has ended already.
//!
//! What a worker starts is found by the tree of processes (`gpbench_processes`): workers and gpbench adopt orphans, so a
//! process stays below its worker whatever session, group or environment it chooses, and below gpbench once its worker
//! has ended. A control group, where this user may make one, ends and counts all of them at once.
//!
//! Memory and processor time are watched by `/proc` (`family`, `memory`). A worker with a limit on its memory is looked at
//! the more often the less it has left (`pace`). `RLIMIT_AS` does not bound memory: the address space of a process with
//! libraries, thread stacks and the buffers of OpenBLAS is much larger than the memory that it uses, and a failed
//! allocation deep in a plugin is harder to tell from a bug than a kill. `RLIMIT_CPU` ends what the watching misses, and
//! no worker leaves a core file.

mod command;
mod control_group;
mod family;
mod foreground;
mod limits;
mod log;
mod machine;
mod memory;
mod numerics;
mod own_group;
mod pace;
mod processors;
mod running;
mod running_time;
mod speed;
mod stale;
mod stream;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::Duration;

use gpbench_processes::{adopt_orphans, spawn};
use gpbench_record::{Environment, Limits, Message, Program};

pub use self::command::allocation;
pub use self::foreground::Foreground;

use self::command::command;
use self::control_group::ControlGroups;
use self::limits::{bound, confine};
use self::log::open_log;
use self::numerics::Numerics;
use self::running::Running;
use self::stale::kill_marked;
use self::stream::{Bound, forward};
use crate::{End, EngineError, Executor, Interrupt, Outcome, ProcessorTimes, WorkItem};

/// Starts `gpbench-worker` for each work item.
#[derive(Debug, Clone)]
pub struct LocalExecutor {
    /// The worker program.
    pub worker: PathBuf,
    /// A command and its arguments put before the worker, such as `taskset -c 0-3`.
    pub wrapper: Vec<OsString>,
    /// Environment variables that workers get.
    pub environment: BTreeMap<String, String>,
    /// Bytes of memory that no worker may use more of, whatever its limit: what a batch system allows, which no result depends
    /// on.
    pub ceiling: Option<u64>,
    /// How long a worker that has reported, or closed its output, may take to end.
    pub grace: Duration,
    threads_per_case: usize,
    jobs: usize,
    numerics: Numerics,
    /// Where workers get control groups of their own, if they do.
    control_groups: Option<Arc<ControlGroups>>,
}

impl LocalExecutor {
    /// Asks `worker` for its numerics, and divides `threads` equally among `jobs` cases at a time.
    ///
    /// # Errors
    /// [`EngineError::Worker`] when the program cannot be used.
    pub fn open(worker: impl Into<PathBuf>, threads: usize, jobs: usize) -> Result<Self, EngineError> {
        let executor = Self::new(worker);
        let numerics = Numerics::ask(&executor.worker)?;
        let environment = numerics.blas_settings.clone();
        Ok(Self { environment, numerics, threads_per_case: share(threads, jobs), jobs, ..executor })
    }

    /// Runs cases of one thread by a worker whose numerics are not known, without a wrapper or variables, with a
    /// grace of ten seconds, and in control groups where this user may make them. This process adopts orphans from now on,
    /// and while a case runs it ends those children that it has not started through `gpbench_processes`.
    pub fn new(worker: impl Into<PathBuf>) -> Self {
        // Where the system refuses, process groups and control groups are used alone.
        let _ = adopt_orphans();
        Self {
            worker: worker.into(),
            wrapper: Vec::new(),
            environment: BTreeMap::new(),
            ceiling: None,
            grace: Duration::from_secs(10),
            threads_per_case: 1,
            jobs: 1,
            numerics: Numerics::default(),
            control_groups: ControlGroups::find().map(Arc::new),
        }
    }

    /// As [`LocalExecutor::new`], without control groups.
    #[must_use]
    pub fn without_control_groups(self) -> Self {
        Self { control_groups: None, ..self }
    }

    /// What makes this machine slower than its processor, as far as its system tells without measuring; a sentence
    /// each.
    pub fn speed_remarks(&self) -> Vec<String> {
        speed::remarks(&self.numerics)
    }

    /// How limits are enforced.
    fn enforcement(&self) -> &'static str {
        match &self.control_groups {
            Some(groups) if groups.bounds_memory() => "cgroup v2, memory bounded by the kernel and watched",
            Some(_) => "cgroup v2, memory watched",
            None => "process tree and RLIMIT_CPU, memory and processor time watched",
        }
    }

    fn start(&self, item: &WorkItem, log: &Path) -> io::Result<Running> {
        let log_file = open_log(log)?;
        let words = self.wrapper.iter().cloned().chain([self.worker.clone().into_os_string()]);
        // Dropped, and thus killed, if any of what follows is refused.
        let mut worker = spawn(&mut command(words, &self.environment, item, log, log_file))?;
        let limits = item.limits();
        let memory_bytes = limits.memory_bytes.into_iter().chain(self.ceiling).min();
        let limits = Limits { memory_bytes, ..limits };
        // Nothing of the plugin runs before the worker has read its job.
        let control_group =
            self.control_groups.as_ref().and_then(|groups| confine(groups, &worker.child, &limits));
        bound(&worker.child, &limits);
        let mut stdin = worker.child.stdin.take().expect("standard input is piped");
        let stdout = worker.child.stdout.take().expect("standard output is piped");
        let input = item.input();
        let (to, output) = channel();
        let most = Bound::of(item);
        // In threads of their own, so that a worker that neither reads nor writes blocks nothing. They are not
        // joined: a process that escaped may keep the pipes open.
        Builder::new().spawn(move || forward(stdout, most, &to))?;
        Builder::new().spawn(move || {
            let _ = stdin.write_all(&input);
        })?;
        Ok(Running::new(worker, output, log.to_owned(), (limits, self.grace), control_group))
    }
}

/// Bytes of memory that this machine lets its processes have, where known.
pub fn installed_memory() -> Option<u64> {
    machine::machine_memory()
}

/// Bytes of memory that this machine has, whatever a batch system lets its processes have.
pub fn physical_memory() -> Option<u64> {
    machine::physical_memory()
}

/// An equal share of the threads, at least one.
fn share(threads: usize, jobs: usize) -> usize {
    (threads / jobs.max(1)).max(1)
}

impl Executor for LocalExecutor {
    fn machine(&self) -> Environment {
        Environment {
            cpu_dispatch: self.numerics.cpu_dispatch.clone(),
            blas: self.numerics.blas.clone(),
            blas_core: self.numerics.blas_core.clone(),
            worker_sha256: self.numerics.worker.iter().map(|worker| worker.sha256.as_str()).collect(),
            threads: self.threads_per_case,
            jobs: self.jobs,
            limits: self.enforcement().to_owned(),
            ..machine::describe()
        }
    }

    fn free_memory(&self) -> Option<u64> {
        machine::available_memory().into_iter().chain(self.ceiling).min()
    }

    fn processor_times(&self) -> Option<ProcessorTimes> {
        processors::times()
    }

    fn worker(&self) -> Option<&Program> {
        self.numerics.worker.as_ref()
    }

    fn with_worker(&self, worker: &Path) -> Option<Box<dyn Executor + '_>> {
        Some(Box::new(Self { worker: worker.to_owned(), ..self.clone() }))
    }

    fn run(&self, item: &WorkItem, log: &Path, interrupt: &Interrupt, seen: &dyn Fn(&Message)) -> Outcome {
        match self.start(item, log) {
            Ok(running) => running.watch(interrupt, seen),
            Err(error) => {
                let reason = format!("{}: {error}", self.worker.display());
                Outcome::of(End::NotStarted { reason })
            }
        }
    }

    fn end_stale_processes(&self, logs: &[PathBuf]) {
        kill_marked(logs);
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn jobs_share_the_threads() {
        assert_eq!(
            [(6, 3), (7, 3), (2, 5), (4, 0)].map(|(threads, jobs)| share(threads, jobs)),
            [2, 2, 1, 4]
        );
    }
}
