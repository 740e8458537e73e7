//! The known state of an attempt that has been sent.

use gpbench_record::{Ending, PartLine};
use jiff::Timestamp;

use crate::front::policy::Policy;
use crate::ledger::Withdrawal;
use crate::limits::ResourceRequest;
use crate::scheduler::{JobTask, TaskState};

/// An attempt that is not over.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// The array's number.
    pub(crate) submission: u32,
    /// Its index in the array.
    pub(crate) index: u32,
    /// The resources that it requested.
    pub(crate) request: ResourceRequest,
    /// Why the front cancels it.
    pub(crate) withdrawal: Option<Withdrawal>,
    /// Whether the scheduler was asked to cancel it.
    pub(crate) cancelled: bool,
    /// The state that its runner has reported.
    pub(crate) told: Told,
    /// The state that the scheduler has reported.
    pub(crate) queue: Queue,
}

/// The state that a runner has reported. Times are by the clock of its node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    /// The front's time of the last news, or of the submission.
    pub(crate) heard: Timestamp,
    /// When it began.
    pub(crate) begun: Option<Timestamp>,
    /// Where it runs.
    pub(crate) node: Option<String>,
    /// The first case that started.
    pub(crate) first: Option<String>,
    /// The case that is running, and when it started.
    pub(crate) running: Option<(String, Timestamp)>,
    /// The time of its last line.
    pub(crate) last: Timestamp,
    /// Why it ended.
    pub(crate) ending: Option<Ending>,
    /// Whether the running case has written a checkpoint.
    pub(crate) advanced: bool,
    /// Cases that it was to run.
    pub(crate) assigned: Option<usize>,
    /// Rows that it has written.
    pub(crate) rows: usize,
}

/// The state of an attempt that the scheduler has reported.
#[derive(Debug, Clone, Default)]
pub(crate) struct Queue {
    /// Its last answer that knew the attempt.
    pub(crate) seen: Option<JobTask>,
    /// The first of the last answers that show it as ended or do not know it.
    pub(crate) gone: Option<Timestamp>,
    /// Whether a later answer has shown the same.
    pub(crate) confirmed: bool,
    /// The first of the last answers that show it as running.
    pub(crate) running: Option<Timestamp>,
}

impl Known {
    pub(crate) fn new(submission: u32, index: u32, request: ResourceRequest, now: Timestamp) -> Self {
        let told = Told { heard: now, ..Told::default() };
        Self { submission, index, request, withdrawal: None, cancelled: false, told, queue: Queue::default() }
    }

    /// The node, by its runner or by the scheduler.
    pub(crate) fn node(&self) -> Option<&str> {
        let seen = self.queue.seen.as_ref().map(|task| task.node.as_str());
        self.told.node.as_deref().or(seen).filter(|node| !node.is_empty())
    }

    /// The last state that the scheduler has reported.
    pub(crate) fn state(&self) -> Option<&TaskState> {
        self.queue.seen.as_ref().map(|task| &task.state)
    }

    /// Whether its runner or the scheduler has reported its end.
    pub(crate) fn has_ended(&self) -> bool {
        self.told.ending.is_some() || self.queue.gone.is_some() || self.told.is_complete()
    }

    /// Whether it waits in the queue and has never begun: its part file has no news.
    pub(crate) fn waits(&self) -> bool {
        self.told.begun.is_none() && self.queue.gone.is_none() && self.state() == Some(&TaskState::Pending)
    }
}

impl Told {
    /// Applies a line other than that of a case. `now` is the front's time.
    pub(crate) fn hear(&mut self, line: &PartLine, now: Timestamp) {
        self.heard = now;
        match line {
            PartLine::Begun { time, place } => {
                self.last = parsed(time);
                self.begun = Some(self.last);
                self.node = Some(place.node.clone());
                // A second copy begins at the first case again.
                (self.first, self.running, self.ending) = (None, None, None);
            }
            PartLine::Beat { time, advanced } => {
                self.last = parsed(time);
                self.advanced |= advanced;
            }
            PartLine::Started { time, id } => {
                self.last = parsed(time);
                self.first.get_or_insert_with(|| id.clone());
                self.running = Some((id.clone(), self.last));
                self.advanced = false;
            }
            PartLine::Ended { time, ending, advanced } => {
                self.last = parsed(time);
                self.ending = Some(ending.clone());
                self.advanced |= advanced;
            }
            PartLine::Assigned { attempt: _, cases, seconds: _ } => self.assigned = Some(cases.len()),
            PartLine::Case(_) | PartLine::Unknown => {}
        }
    }

    /// Whether it has written the rows of all of its cases.
    pub(crate) fn is_complete(&self) -> bool {
        self.assigned.is_some_and(|assigned| self.rows >= assigned)
    }

    /// Records that a case has a row, whoever reported it.
    pub(crate) fn has_row(&mut self, id: &str) {
        if self.running.as_ref().is_some_and(|(running, _)| running == id) {
            self.running = None;
        }
    }
}

/// A time by the clock of a node. One that cannot be read is taken for the oldest.
fn parsed(time: &str) -> Timestamp {
    time.parse().unwrap_or_default()
}

impl Queue {
    /// Applies an answer of the scheduler: `task` is absent where it does not know the attempt.
    pub(crate) fn polled(&mut self, task: Option<&JobTask>, policy: &Policy, now: Timestamp) {
        let is_over = task.is_none_or(|task| task.state.is_over());
        let first = is_over.then(|| self.gone.unwrap_or(now));
        self.confirmed = first.is_some_and(|first| seconds_between(first, now) >= policy.confirm_seconds);
        self.gone = first;
        let runs = task.is_some_and(|task| task.state == TaskState::Running);
        self.running = runs.then(|| self.running.unwrap_or(now));
        if let Some(task) = task {
            self.seen = Some(task.clone());
        }
    }
}

/// Seconds from one time to another.
pub(crate) fn seconds_between(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64()
}
