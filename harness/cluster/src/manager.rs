//! Runs a front: polls the scheduler, reads part files, and executes the actions.

use gpbench_record::{Attempt, PartLine, Row};
use jiff::Timestamp;

use crate::ClusterError;
use crate::front::{Action, Front, FrontRow, Submission};
use crate::ledger::LedgerLine;
use crate::part::News;
use crate::scheduler::{Scheduler, SchedulerError, Trouble};

/// Storage of a cluster run.
pub trait Records {
    /// Appends a line to the ledger. It is on the disk when this returns.
    ///
    /// # Errors
    /// When it cannot be written.
    fn record(&mut self, line: &LedgerLine) -> Result<(), ClusterError>;

    /// Makes the part files of an array, and the list of its tasks.
    ///
    /// # Errors
    /// When they cannot be written.
    fn prepare(&mut self, submission: &Submission) -> Result<(), ClusterError>;

    /// New lines of a part file.
    ///
    /// # Errors
    /// When it cannot be read.
    fn news(&mut self, attempt: Attempt) -> Result<News, ClusterError>;

    /// Copies the line of a row to the journal, byte for byte.
    ///
    /// # Errors
    /// When it cannot be written.
    fn copy(&mut self, row: &Row, line: &[u8]) -> Result<(), ClusterError>;

    /// Writes a row that no runner could write.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&mut self, row: &FrontRow) -> Result<(), ClusterError>;
}

/// Result of one round.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Round {
    /// Ids of cases whose rows came.
    pub rows: Vec<String>,
    /// Messages for people: temporary failures, lines that cannot be read, and cases that ended badly.
    pub notes: Vec<String>,
    /// Tasks that the scheduler has accepted.
    pub sent: usize,
    /// Tasks that the scheduler was asked to cancel.
    pub cancelled: usize,
    /// Whether nothing is left to do.
    pub is_finished: bool,
    /// Seconds to wait before the next round.
    pub pause_seconds: f64,
}

/// Runs a front over a scheduler and the files of a run.
#[derive(Debug)]
pub struct Manager<S, R> {
    /// The front.
    pub front: Front,
    /// The scheduler.
    pub scheduler: S,
    /// Storage of the run.
    pub records: R,
    pause_seconds: f64,
}

impl<S: Scheduler, R: Records> Manager<S, R> {
    /// Begins or continues a run.
    pub fn new(front: Front, scheduler: S, records: R) -> Self {
        let pause_seconds = front.policy.poll_seconds;
        Self { front, scheduler, records, pause_seconds }
    }

    /// Polls the scheduler, reads part files, and executes the actions, once.
    ///
    /// # Errors
    /// When files cannot be read or written, or the scheduler refuses permanently. A scheduler that does not answer is a note.
    pub fn round(&mut self, now: Timestamp) -> Result<Round, ClusterError> {
        let mut round = Round::default();
        match self.scheduler.poll() {
            Ok(tasks) => self.front.polled(&tasks, now),
            Err(error) => {
                self.front.unanswered();
                pass(error, &mut round)?;
            }
        }
        self.merge(now, &mut round)?;
        for action in self.front.step(now) {
            self.act(action, now, &mut round)?;
        }
        round.is_finished = self.front.is_finished();
        let most = self.front.policy.longest_poll_seconds;
        let pause = if self.front.take_changed() { 0.0 } else { 2.0 * self.pause_seconds };
        self.pause_seconds = pause.min(most).max(self.front.policy.poll_seconds);
        round.pause_seconds = self.pause_seconds;
        Ok(round)
    }

    /// Copies new rows. Needs no scheduler.
    ///
    /// # Errors
    /// When files cannot be read or written.
    pub fn merge(&mut self, now: Timestamp, round: &mut Round) -> Result<(), ClusterError> {
        for attempt in self.front.watched() {
            let news = self.records.news(attempt)?;
            round.notes.extend(news.damaged);
            for line in news.lines {
                let is_new = self.front.hear(attempt, &line.line, now);
                if let (true, PartLine::Case(row)) = (is_new, &line.line) {
                    self.records.copy(row, &line.bytes)?;
                    round.rows.push(row.id.clone());
                }
            }
        }
        self.record()
    }

    /// Writes the front's lines for the ledger.
    fn record(&mut self) -> Result<(), ClusterError> {
        self.front.take_records().iter().try_for_each(|line| self.records.record(line))
    }

    fn act(&mut self, action: Action, now: Timestamp, round: &mut Round) -> Result<(), ClusterError> {
        match action {
            Action::Record(line) => self.records.record(&line),
            Action::Row(row) => {
                self.records.write(&row)?;
                round.notes.push(format!("case {}: {}: {}", row.id, row.status, row.reason));
                round.rows.push(row.id);
                Ok(())
            }
            Action::Cancel(cancellation) => {
                match self.scheduler.cancel(&cancellation.targets) {
                    Ok(()) => {
                        round.cancelled += cancellation.attempts.len();
                        self.front.cancelled(&cancellation);
                    }
                    Err(error) => pass(error, round)?,
                }
                Ok(())
            }
            Action::Submit(submission) => self.submit(&submission, now, round),
        }
    }

    fn submit(
        &mut self,
        submission: &Submission,
        now: Timestamp,
        round: &mut Round,
    ) -> Result<(), ClusterError> {
        self.records.record(&submission.intent())?;
        self.records.prepare(submission)?;
        let mut refusal = None;
        match self.scheduler.submit(&submission.array) {
            Ok(job) => {
                round.sent += submission.attempts.len();
                self.front.submitted(submission.number, job);
            }
            Err(error) => {
                // Otherwise it may have arrived: the next polls search for it.
                if error.kind != Trouble::Passing {
                    self.front.refused(submission.number, error.kind == Trouble::Full, &error.said, now);
                }
                refusal = Some(error);
            }
        }
        self.record()?;
        refusal.map_or(Ok(()), |error| pass(error, round))
    }
}

/// Adds a note about a temporary error.
fn pass(error: SchedulerError, round: &mut Round) -> Result<(), ClusterError> {
    if !error.may_pass() {
        return Err(error.into());
    }
    round.notes.push(error.to_string());
    Ok(())
}
