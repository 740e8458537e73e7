//! The interface between the schedule and the machine that runs workers.

use std::path::{Path, PathBuf};

use gpbench_record::{
    Environment, ExactRequest, Failure, Fault, Job, Limits, Message, OptimumRequest, Program, Solved, Step,
    Verified,
};

use crate::{Interrupt, ProcessorTimes};

/// A request to a worker process.
#[derive(Debug, Clone)]
pub enum WorkItem {
    /// Load the plugin and solve.
    Case(Job),
    /// Compute residuals and predictions from a solution, without the plugin.
    Verify(Job),
    /// Make an exact reference.
    Exact(ExactRequest),
    /// Search the optimum of the exact likelihood.
    Optimum(OptimumRequest),
}

impl WorkItem {
    /// The worker's sub-command.
    pub fn verb(&self) -> &'static str {
        match self {
            WorkItem::Case(_) => "case",
            WorkItem::Verify(_) => "verify",
            WorkItem::Exact(_) => "exact",
            WorkItem::Optimum(_) => "optimum",
        }
    }

    /// The JSON document on the worker's standard input.
    pub fn input(&self) -> Vec<u8> {
        match self {
            WorkItem::Case(job) | WorkItem::Verify(job) => serde_json::to_vec(job),
            WorkItem::Exact(request) => serde_json::to_vec(request),
            WorkItem::Optimum(request) => serde_json::to_vec(request),
        }
        .expect("plain data with text keys always serialises")
    }

    /// Threads that the worker may use.
    pub fn threads(&self) -> usize {
        match self {
            WorkItem::Case(job) | WorkItem::Verify(job) => job.threads,
            WorkItem::Exact(request) => request.threads,
            WorkItem::Optimum(request) => request.system.threads,
        }
    }

    /// Limits that the executor enforces. Only `case` runs a plugin's code, so only it has those of the user. All work ends
    /// after a day where the user has set no other time.
    pub fn limits(&self) -> Limits {
        let limits = match self {
            WorkItem::Case(job) => job.limits,
            WorkItem::Verify(_) | WorkItem::Exact(_) | WorkItem::Optimum(_) => Limits::default(),
        };
        let kill_after_seconds = limits.kill_after_seconds.or(Some(PHASE_SECONDS));
        Limits { kill_after_seconds, ..limits }
    }
}

/// Wall-clock seconds after which a worker is ended where the user has set no time: an exact reference, a verification, and a
/// case in all of its phases, the constructors of its plugin's library among them. So nothing that waits for ever holds a
/// run up for ever.
pub(crate) const PHASE_SECONDS: f64 = 86_400.0;

/// Runs work items on the machine that it owns. Called from several threads at once.
pub trait Executor: Sync {
    /// Describes the machine: hardware, system, the worker program and its numerics, threads of a case, and how
    /// limits are enforced. What belongs to a run stays empty: versions, revision, spec, plugins and data sets.
    fn machine(&self) -> Environment;

    /// Bytes of memory that a work item could use now without swapping, where known.
    fn free_memory(&self) -> Option<u64> {
        None
    }

    /// How the processors of its machine were used until now, where that is known.
    fn processor_times(&self) -> Option<ProcessorTimes> {
        None
    }

    /// The worker program, where it is a file of this machine.
    fn worker(&self) -> Option<&Program> {
        None
    }

    /// This executor with another file as its worker, of the same content; `None` where there is no such file.
    fn with_worker(&self, _worker: &Path) -> Option<Box<dyn Executor + '_>> {
        None
    }

    /// Runs one work item until its process has ended, enforcing its limits. What the worker prints is appended to
    /// `log`. Returns soon after `interrupt` is raised. `seen` gets each message as it comes.
    fn run(&self, item: &WorkItem, log: &Path, interrupt: &Interrupt, seen: &dyn Fn(&Message)) -> Outcome;

    /// Ends processes of an earlier engine that was killed before its run ended: those of work items with one of these
    /// logs. Called before the first work item of a run, with the logs of its own cases: another engine may run other
    /// cases of the same run meanwhile.
    fn end_stale_processes(&self, _logs: &[PathBuf]) {}
}

/// How a work item ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What the worker reported, in order, up to its terminal message.
    pub messages: Vec<Message>,
    /// How the process ended.
    pub end: End,
    /// Largest resident memory seen by the executor; 0 if none was seen.
    pub peak_memory_bytes: u64,
    /// Seconds from when a limit was reached to when all processes had ended; absent where no limit was reached.
    pub seconds_over_limit: Option<f64>,
    /// Seconds of all long pauses in which neither this process nor the worker ran; absent where there was none.
    pub stood_still: Option<f64>,
}

/// How a worker process ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// By itself, with this status.
    Exited(i32),
    /// By a signal that the executor did not send.
    Signalled {
        /// The signal's number.
        signal: i32,
        /// Whether it used so much memory that the system may have killed it for that.
        memory_pressure: bool,
    },
    /// Killed for time.
    TimedOut {
        /// The limit in seconds.
        limit: f64,
    },
    /// Killed for processor time.
    CpuSpent {
        /// The limit in seconds of all threads together.
        limit: f64,
    },
    /// Killed for memory.
    OutOfMemory {
        /// Bytes in use when it was killed.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Killed because its output was not a worker's messages.
    Garbled {
        /// The beginning of what it wrote.
        sample: String,
    },
    /// Killed because it closed its output, or reported its result, and did not end.
    Lingered,
    /// Killed because the run is to end.
    Interrupted,
    /// Never started.
    NotStarted {
        /// Why.
        reason: String,
    },
}

impl Outcome {
    /// An end without messages.
    pub fn of(end: End) -> Self {
        Self { messages: Vec::new(), end, peak_memory_bytes: 0, seconds_over_limit: None, stood_still: None }
    }

    /// The failure that the worker reported, if it reported one.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.messages.iter().find_map(|message| match message {
            Message::Failed(failure) => Some(failure),
            _ => None,
        })
    }

    /// The fault that the worker reported, if it reported one.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.messages.iter().find_map(|message| match message {
            Message::Fault(fault) => Some(fault),
            _ => None,
        })
    }

    /// Whether code of the plugin may have run: what the worker reported and how it ended may then be its doing.
    pub(crate) fn plugin_may_have_run(&self) -> bool {
        self.messages.contains(&Message::Loading)
    }

    /// What `case` measured, if it ended well.
    pub(crate) fn solved(&self) -> Option<&Solved> {
        self.messages.iter().find_map(|message| match message {
            Message::Solved(solved) => Some(solved),
            _ => None,
        })
    }

    /// What `verify` computed, if it ended well.
    pub(crate) fn verified(&self) -> Option<&Verified> {
        self.messages.iter().find_map(|message| match message {
            Message::Verified(verified) => Some(verified),
            _ => None,
        })
    }

    /// The outer steps that were reported.
    pub(crate) fn steps(&self) -> Vec<&Step> {
        let messages = self.messages.iter();
        messages
            .filter_map(|message| match message {
                Message::Step(step) => Some(step),
                _ => None,
            })
            .collect()
    }
}

/// Whether this is the last message of a worker.
pub(crate) fn is_terminal(message: &Message) -> bool {
    !matches!(message, Message::Loading | Message::Trace(_) | Message::Step(_))
}
