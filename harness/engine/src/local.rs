//! Workers as processes of this machine.
//!
//! Every worker leads a process group of its own, so that whatever a plugin
//! forks is killed with it, and a Ctrl-C at the terminal reaches only gpbench,
//! which then ends its workers in order. That workers end even when gpbench
//! itself is killed is their own part: a worker asks the system, as its first
//! act, for SIGKILL at its parent's death (`PR_SET_PDEATHSIG`), and ends if its
//! parent is gone already. A process that leaves its group (`setsid`) stays in
//! the worker's control group, where this user may make one; elsewhere it is
//! found by an environment variable that the worker was started with.
//!
//! Memory and processor time are watched: over the whole control group, or else
//! by `/proc`, the worker itself at every look and what it has forked every
//! second. Memory is not bounded by `RLIMIT_AS`: address space says little about
//! a process that maps libraries, thread stacks and the buffers of OpenBLAS, and
//! a failed allocation deep in a plugin is harder to tell from a bug than a kill.
//! `RLIMIT_CPU` stands behind the watching, for what escapes it, and no worker
//! leaves a core file.

mod running;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use gpbench_record::Limits;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

use self::running::Running;
use crate::control_group::{ControlGroup, ControlGroups};
use crate::stream::forward;
use crate::usage::marked;
use crate::{End, Executor, Interrupt, Outcome, Work};

/// Processor seconds past their limit at which the kernel steps in.
const CPU_SLACK: f64 = 2.0;
/// The environment variable by which what a worker has forked is known: the path of its log.
const MARK: &str = "GPBENCH_LOG";
/// A log that outgrows this is cut: prints must not fill the disk.
const LOG_LIMIT: u64 = 64 << 20;
/// How glibc hands out a worker's memory, unless the user says: in huge pages, and without giving back to the
/// system what was freed. A solver's vectors are otherwise a page fault for every 4 KiB, in each iteration anew.
const ALLOCATION: (&str, &str) = (
    "GLIBC_TUNABLES",
    "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=2147483648",
);

/// Spawns `gpbench-worker` for every errand.
#[derive(Debug, Clone)]
pub struct LocalExecutor {
    /// The worker program.
    pub worker: PathBuf,
    /// A command and its arguments put before the worker, such as `taskset -c 0-3`.
    pub wrapper: Vec<OsString>,
    /// Environment variables that workers get.
    pub environment: BTreeMap<String, String>,
    /// How long a worker that has reported, or closed its output, may take to end.
    pub grace: Duration,
    /// Where workers get control groups of their own, if they do.
    control_groups: Option<Arc<ControlGroups>>,
}

impl LocalExecutor {
    /// Runs `worker` without a wrapper or further variables, with a grace of ten seconds, and in control
    /// groups where this user may make them.
    pub fn new(worker: impl Into<PathBuf>) -> Self {
        Self {
            worker: worker.into(),
            wrapper: Vec::new(),
            environment: BTreeMap::new(),
            grace: Duration::from_secs(10),
            control_groups: ControlGroups::find().map(Arc::new),
        }
    }

    /// The same, without control groups.
    #[must_use]
    pub fn without_control_groups(self) -> Self {
        Self { control_groups: None, ..self }
    }

    /// How limits are enforced, for the record.
    pub fn enforcement(&self) -> &'static str {
        match &self.control_groups {
            Some(groups) if groups.bounds_memory() => "cgroup v2, memory bounded by the kernel and watched",
            Some(_) => "cgroup v2, memory watched",
            None => "process groups and RLIMIT_CPU, memory and processor time watched",
        }
    }

    fn command(&self, work: &Work, log: &Path, log_file: File) -> Command {
        let mut words = self.wrapper.iter().cloned().chain([self.worker.clone().into_os_string()]);
        let mut command = Command::new(words.next().expect("the worker itself is at least one word"));
        command
            .args(words)
            .arg(work.verb())
            .env("LC_ALL", "C")
            // The worker raises OpenBLAS's threads for dense work; idle ones must not spin.
            .env("OPENBLAS_NUM_THREADS", "1")
            .env("OPENBLAS_THREAD_TIMEOUT", "4")
            .env("OMP_NUM_THREADS", "1")
            .env("RAYON_NUM_THREADS", work.threads().to_string())
            .envs(std::env::var_os(ALLOCATION.0).is_none().then_some(ALLOCATION))
            .envs(&self.environment)
            .env(MARK, log)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log_file)
            .process_group(0);
        command
    }

    fn start(&self, work: &Work, log: &Path) -> io::Result<Running> {
        let log_file = OpenOptions::new().append(true).create(true).open(log)?;
        let mut child = self.command(work, log, log_file).spawn()?;
        let limits = work.limits();
        // The worker knows of no plugin before it has read its job.
        let control_group = self.control_groups.as_ref().and_then(|groups| confine(groups, &child, &limits));
        bound(&child, &limits);
        // Should the system run out of memory, a worker is to die, not the engine.
        let _ = fs::write(format!("/proc/{}/oom_score_adj", child.id()), "1000");
        let mut stdin = child.stdin.take().expect("standard input is piped");
        let stdout = child.stdout.take().expect("standard output is piped");
        let input = work.input();
        // Threads of their own, so that a worker that neither reads nor writes holds
        // nothing up. Not joined: a process that escaped may hold the pipes for ever.
        thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        let (to, output) = channel();
        thread::spawn(move || forward(stdout, &to));
        Ok(Running::new(child, output, log.to_owned(), (limits, self.grace), control_group))
    }
}

/// A control group with the worker in it and its memory bounded, as far as that can be had.
fn confine(groups: &ControlGroups, child: &Child, limits: &Limits) -> Option<ControlGroup> {
    let group = groups.make()?;
    group.admit(child.id()).ok()?;
    if let Some(bytes) = limits.memory_bytes.filter(|_| groups.bounds_memory()) {
        // Watched all the same.
        let _ = group.bound_memory(bytes);
    }
    Some(group)
}

/// Bounds that the kernel keeps for each process by itself.
fn bound(child: &Child, limits: &Limits) {
    let pid = Some(Pid::from_child(child));
    let between = |soft: u64, hard: u64| Rlimit { current: Some(soft), maximum: Some(hard) };
    // A child that has ended already needs none.
    let _ = prlimit(pid, Resource::Core, between(0, 0));
    if let Some(seconds) = limits.cpu_seconds {
        let seconds = (seconds + CPU_SLACK).ceil() as u64;
        // First SIGXCPU, which says what it is for; SIGKILL to one that would not hear.
        let _ = prlimit(pid, Resource::Cpu, between(seconds, seconds + 1));
    }
}

impl Executor for LocalExecutor {
    fn run(&self, work: &Work, log: &Path, interrupt: &Interrupt) -> Outcome {
        match self.start(work, log) {
            Ok(running) => running.watch(interrupt),
            Err(error) => {
                let reason = format!("{}: {error}", self.worker.display());
                Outcome::of(End::NotStarted { reason })
            }
        }
    }

    fn end_forsaken(&self, logs: &Path) {
        kill_marked(logs);
    }
}

/// Kills the processes that were started with a log whose path begins with `log`.
fn kill_marked(log: &Path) {
    for process in marked(MARK, log.as_os_str()) {
        if let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) {
            // It may have ended meanwhile.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Empties a log that has outgrown its limit. Its writers append, so they go on
/// at the new end.
fn cut_log(path: &Path) {
    if fs::metadata(path).is_ok_and(|data| data.len() > LOG_LIMIT)
        && let Ok(mut file) = OpenOptions::new().append(true).open(path)
    {
        let _ = file.set_len(0);
        let _ = writeln!(file, "[gpbench: the log had grown over {} MiB and was cut]", LOG_LIMIT >> 20);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_beyond_its_limit_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        // A sparse file: nothing is written.
        File::create(&path).unwrap().set_len(LOG_LIMIT + 1).unwrap();
        cut_log(&path);
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "[gpbench: the log had grown over 64 MiB and was cut]\n"
        );
        cut_log(&path);
        assert!(fs::metadata(&path).unwrap().len() < 100);
    }
}
