//! Where work is done: the border between the schedule and processes.

use std::path::Path;

use gpbench_record::{ExactRequest, Job, Limits, Message};

use crate::Interrupt;

/// One errand of a worker.
#[derive(Debug, Clone)]
pub enum Work {
    /// Load the plugin and solve.
    Case(Job),
    /// Compute the truth from a solution, without the plugin.
    Verify(Job),
    /// Make an exact reference.
    Exact(ExactRequest),
}

impl Work {
    /// The worker's sub-command.
    pub fn verb(&self) -> &'static str {
        match self {
            Work::Case(_) => "case",
            Work::Verify(_) => "verify",
            Work::Exact(_) => "exact",
        }
    }

    /// The JSON document on the worker's standard input.
    pub fn input(&self) -> Vec<u8> {
        match self {
            Work::Case(job) | Work::Verify(job) => serde_json::to_vec(job),
            Work::Exact(request) => serde_json::to_vec(request),
        }
        .expect("plain data with text keys always serialises")
    }

    /// Threads the worker may use.
    pub fn threads(&self) -> usize {
        match self {
            Work::Case(job) | Work::Verify(job) => job.threads,
            Work::Exact(request) => request.threads,
        }
    }

    /// Bounds enforced from outside. Only `case` runs foreign code, so only it has any.
    pub fn limits(&self) -> Limits {
        match self {
            Work::Case(job) => job.limits,
            Work::Verify(_) | Work::Exact(_) => Limits::default(),
        }
    }
}

/// What came of an errand.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What the worker reported, in order, up to its terminal message.
    pub messages: Vec<Message>,
    /// How the process ended.
    pub end: End,
    /// Largest resident memory seen from outside; 0 if none was seen.
    pub peak_memory_bytes: u64,
    /// Seconds from when a limit was reached to when all was dead; absent where none was.
    pub seconds_over_limit: Option<f64>,
}

impl Outcome {
    /// Nothing but an end.
    pub fn of(end: End) -> Self {
        Self { messages: Vec::new(), end, peak_memory_bytes: 0, seconds_over_limit: None }
    }
}

/// How a worker process ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// By itself, with this status.
    Exited(i32),
    /// By a signal that the engine did not send.
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
    /// Killed because its output was not in the worker's language.
    Garbled {
        /// The beginning of what it wrote.
        sample: String,
    },
    /// Killed because it closed its output, or reported its result, and did not end.
    Lingered,
    /// Killed because the run is to end.
    Interrupted,
    /// It never ran.
    NotStarted {
        /// Why.
        reason: String,
    },
}

/// Runs errands; called from several threads at once.
pub trait Executor: Sync {
    /// Runs one errand to its end, whatever that is. What the worker prints is
    /// appended to `log`. Returns soon after `interrupt` is raised.
    fn run(&self, work: &Work, log: &Path, interrupt: &Interrupt) -> Outcome;

    /// Ends what an earlier engine, killed with its run unfinished, may have left running; its errands
    /// wrote their logs below `logs`. Called before the first errand of a run.
    fn end_forsaken(&self, _logs: &Path) {}
}

/// Whether a worker says nothing more after this message.
pub(crate) fn is_terminal(message: &Message) -> bool {
    !matches!(message, Message::Trace(_) | Message::Step(_))
}
