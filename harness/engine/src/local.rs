//! Workers as processes of this machine.
//!
//! Every worker leads a process group of its own, so that whatever a plugin
//! forks is killed with it, and a Ctrl-C at the terminal reaches only gpbench,
//! which then ends its workers in order. That workers end even when gpbench
//! itself is killed is their own part: a worker asks the system, as its first
//! act, for SIGKILL at its parent's death (`PR_SET_PDEATHSIG`), and ends if its
//! parent is gone already. A process that leaves its group (`setsid`) escapes
//! the kill but holds nothing up.
//!
//! Memory is sampled from `/proc` rather than bounded by `RLIMIT_AS`: address
//! space says little about a process that maps libraries, thread stacks and the
//! buffers of OpenBLAS, and a failed allocation deep in a plugin is harder to
//! tell from a bug than a kill.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use gpbench_record::{Limits, Message};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::environment::machine_memory;
use crate::executor::is_terminal;
use crate::stream::{Output, forward};
use crate::{End, Executor, Interrupt, Outcome, Work};

/// Time between two looks at a running worker.
const TICK: Duration = Duration::from_millis(20);
/// Time between the first two looks at a worker that should end at once; the next is twice as long,
/// and so on up to the other.
const SHORTEST_TICK: Duration = Duration::from_micros(50);
const SHORT_TICK: Duration = Duration::from_millis(2);
/// A log that outgrows this is cut: prints must not fill the disk.
const LOG_LIMIT: u64 = 64 << 20;

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
}

impl LocalExecutor {
    /// Runs `worker` without a wrapper or further variables, and with a grace of ten seconds.
    pub fn new(worker: impl Into<PathBuf>) -> Self {
        Self {
            worker: worker.into(),
            wrapper: Vec::new(),
            environment: BTreeMap::new(),
            grace: Duration::from_secs(10),
        }
    }

    fn command(&self, work: &Work, log: File) -> Command {
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
            .envs(&self.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .process_group(0);
        command
    }

    fn start(&self, work: &Work, log: &Path) -> io::Result<Running> {
        let log_file = OpenOptions::new().append(true).create(true).open(log)?;
        let started = Instant::now();
        let mut child = self.command(work, log_file).spawn()?;
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
        let (to, output): (Sender<Output>, Receiver<Output>) = channel();
        thread::spawn(move || forward(stdout, &to));
        Ok(Running {
            group: Pid::from_child(&child),
            child,
            output,
            log: log.to_owned(),
            started,
            limits: work.limits(),
            grace: self.grace,
            messages: Vec::new(),
            peak_memory_bytes: 0,
            ending_since: None,
        })
    }
}

impl Executor for LocalExecutor {
    fn run(&self, work: &Work, log: &Path, interrupt: &Interrupt) -> Outcome {
        match self.start(work, log) {
            Ok(running) => running.watch(interrupt),
            Err(error) => {
                let reason = format!("{}: {error}", self.worker.display());
                Outcome { messages: Vec::new(), end: End::NotStarted { reason }, peak_memory_bytes: 0 }
            }
        }
    }
}

/// A worker under watch.
struct Running {
    child: Child,
    group: Pid,
    output: Receiver<Output>,
    log: PathBuf,
    started: Instant,
    limits: Limits,
    grace: Duration,
    messages: Vec<Message>,
    peak_memory_bytes: u64,
    /// When it reported its result or closed its output.
    ending_since: Option<Instant>,
}

impl Running {
    fn watch(mut self, interrupt: &Interrupt) -> Outcome {
        let cause = self.until_over(interrupt);
        // The leader is not reaped yet, so the group's number cannot have been reused.
        let _ = kill_process_group(self.group, Signal::KILL);
        let status = self.child.wait();
        if cause != Some(End::Interrupted) {
            self.drain();
        }
        let end = cause.unwrap_or_else(|| match status {
            Ok(status) => self.own_end(status),
            Err(error) => End::NotStarted { reason: format!("cannot wait for it: {error}") },
        });
        Outcome { messages: self.messages, end, peak_memory_bytes: self.peak_memory_bytes }
    }

    /// Waits until the process has ended by itself (`None`) or is to be killed.
    fn until_over(&mut self, interrupt: &Interrupt) -> Option<End> {
        let mut last_look = Instant::now();
        let mut open = true;
        let mut pause = SHORTEST_TICK;
        loop {
            if open {
                match self.output.recv_timeout(TICK) {
                    Ok(Output::Message(message)) => self.hear(message),
                    Ok(Output::Garbled(sample)) => return Some(End::Garbled { sample }),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        open = false;
                        self.ending_since.get_or_insert_with(Instant::now);
                    }
                }
            } else {
                thread::sleep(pause);
                pause = (2 * pause).min(SHORT_TICK);
            }
            // A flood of messages must not keep the limits from being looked at, nor
            // every message cost a look.
            if open && self.ending_since.is_none() && last_look.elapsed() < TICK {
                continue;
            }
            last_look = Instant::now();
            if self.has_exited() {
                return None;
            }
            if interrupt.signal().is_some() {
                return Some(End::Interrupted);
            }
            if let Some(end) = self.over_limit() {
                return Some(end);
            }
        }
    }

    fn hear(&mut self, message: Message) {
        if is_terminal(&message) {
            self.ending_since.get_or_insert_with(Instant::now);
        }
        self.messages.push(message);
    }

    /// Whether the leader has ended. It stays a zombie until the group is killed.
    fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.group), options), Ok(None))
    }

    fn over_limit(&mut self) -> Option<End> {
        cut_log(&self.log);
        if let Some(since) = self.ending_since {
            return (since.elapsed() > self.grace).then_some(End::Lingered);
        }
        let bytes = resident_bytes(self.child.id()).unwrap_or_default();
        self.peak_memory_bytes = self.peak_memory_bytes.max(bytes);
        if let Some(limit) = self.limits.memory_bytes.filter(|limit| bytes > *limit) {
            return Some(End::OutOfMemory { bytes, limit });
        }
        let limit = self.limits.kill_after_seconds?;
        (self.started.elapsed().as_secs_f64() > limit).then_some(End::TimedOut { limit })
    }

    /// Hears what was still on its way, up to the terminal message. All writers are
    /// dead by now, unless one has escaped; that one is not waited for.
    fn drain(&mut self) {
        let deadline = Instant::now() + self.grace;
        while !self.messages.last().is_some_and(is_terminal)
            && let Ok(Output::Message(message)) =
                self.output.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            self.hear(message);
        }
    }

    fn own_end(&self, status: ExitStatus) -> End {
        match (status.code(), status.signal()) {
            (Some(code), _) => End::Exited(code),
            (None, signal) => {
                let signal = signal.unwrap_or_default();
                let killed = signal == Signal::KILL.as_raw();
                let memory_pressure = killed
                    && memory_nearly_full(self.peak_memory_bytes, self.limits.memory_bytes, machine_memory());
                End::Signalled { signal, memory_pressure }
            }
        }
    }
}

/// Whether a process killed from outside was near its own limit, or held so much
/// of the machine's memory that the system is the likely killer.
fn memory_nearly_full(peak: u64, limit: Option<u64>, machine: Option<u64>) -> bool {
    limit.is_some_and(|limit| peak as f64 > 0.8 * limit as f64)
        || machine.is_some_and(|machine| peak > machine / 2)
}

/// Resident memory of a process.
fn resident_bytes(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
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
    fn memory_is_nearly_full_near_a_limit() {
        assert!(memory_nearly_full(90, Some(100), None));
        assert!(!memory_nearly_full(70, Some(100), Some(1000)));
        assert!(memory_nearly_full(600, None, Some(1000)));
        assert!(!memory_nearly_full(400, None, None));
    }

    #[test]
    fn resident_memory_of_this_process_is_read() {
        assert!(resident_bytes(std::process::id()).unwrap() > 0);
        assert_eq!(resident_bytes(u32::MAX), None);
    }

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
