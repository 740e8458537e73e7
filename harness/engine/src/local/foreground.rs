//! A case in the foreground: its worker has the terminal, alone or under a debugger or profiler.
//!
//! The worker reads its job from a file and writes its messages into another, so that the three standard streams are those of
//! this process. It stays in the process group of this process, which the keys of the terminal reach, and has no limits.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use gpbench_record::{Environment, Message};

use super::LocalExecutor;
use super::command::of_worker;
use super::stream::{Bound, Output, forward};
use crate::executor::is_terminal;
use crate::{End, Executor, Interrupt, Outcome, WorkItem};

/// Time between two looks at the program in the foreground.
const TICK: Duration = Duration::from_millis(20);

/// Runs the solve of a case in the foreground, once, and all other work as [`LocalExecutor`] does.
pub struct Foreground<'a> {
    local: &'a LocalExecutor,
    program: &'a [OsString],
    folder: PathBuf,
    announce: &'a (dyn Fn(&Command) + Sync),
    status: OnceLock<ExitStatus>,
}

impl<'a> Foreground<'a> {
    /// Solves run under `program`, a command and its arguments, if it has any word. `announce` gets the whole command line before
    /// it starts. Job and messages are files in `folder`.
    pub fn new(
        local: &'a LocalExecutor,
        program: &'a [OsString],
        folder: &Path,
        announce: &'a (dyn Fn(&Command) + Sync),
    ) -> Self {
        Self { local, program, folder: folder.to_owned(), announce, status: OnceLock::new() }
    }

    /// How the program in the foreground ended; absent if none has.
    pub fn status(&self) -> Option<ExitStatus> {
        self.status.get().copied()
    }

    /// Runs the solve to the end of the program in the foreground. Without a result of the worker the outcome is an interruption:
    /// how a debugger ends says nothing about the solver.
    fn solve(&self, item: &WorkItem, interrupt: &Interrupt) -> io::Result<Outcome> {
        let [job, answers] = ["job.json", "messages.jsonl"].map(|name| self.folder.join(name));
        fs::write(&job, item.input())?;
        File::create(&answers)?;
        let words = self.program.iter().chain(&self.local.wrapper).cloned();
        let words = words.chain([self.local.worker.clone().into_os_string()]);
        let mut command = of_worker(words, &self.local.environment, item);
        command.arg("debug").args([&job, &answers]);
        (self.announce)(&command);
        let status = wait(command.spawn()?, interrupt)?;
        let _ = self.status.set(status);
        interrupt.forget_key();
        let messages = messages(File::open(&answers)?, item);
        let has_ended = messages.last().is_some_and(is_terminal);
        let end = if has_ended { End::Exited(0) } else { End::Interrupted };
        Ok(Outcome { messages, ..Outcome::of(end) })
    }
}

impl Executor for Foreground<'_> {
    fn machine(&self) -> Environment {
        self.local.machine()
    }

    fn free_memory(&self) -> Option<u64> {
        self.local.free_memory()
    }

    fn run(&self, item: &WorkItem, log: &Path, interrupt: &Interrupt, seen: &dyn Fn(&Message)) -> Outcome {
        match item {
            WorkItem::Verify(_) | WorkItem::Exact(_) | WorkItem::Optimum(_) => {
                self.local.run(item, log, interrupt, seen)
            }
            WorkItem::Case(_) => self.solve(item, interrupt).unwrap_or_else(|error| {
                let name = self.program.first().map_or(self.local.worker.as_os_str(), OsString::as_os_str);
                Outcome::of(End::NotStarted { reason: format!("{}: {error}", name.display()) })
            }),
        }
    }
}

/// Waits for a program in the foreground. Keys of the terminal are the program's own; any other request to end kills it.
fn wait(mut child: Child, interrupt: &Interrupt) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupt.is_more_than_key() {
            child.kill()?;
            return child.wait();
        }
        thread::sleep(TICK);
    }
}

/// The messages of a worker, up to the terminal one or to the first line that is no message.
fn messages(from: impl Read, item: &WorkItem) -> Vec<Message> {
    let (to, output) = channel();
    forward(from, Bound::of(item), &to);
    drop(to);
    let message = |output| match output {
        Output::Message(message) => Some(*message),
        Output::Garbled(_) => None,
    };
    output.iter().map_while(message).collect()
}
