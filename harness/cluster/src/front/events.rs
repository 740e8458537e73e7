//! The events that change the state of the front.

use std::collections::HashMap;

use gpbench_record::{Attempt, PartLine};
use jiff::Timestamp;

use crate::front::known::seconds_between;
use crate::front::state::{Cancellation, Front, Standing};
use crate::ledger::LedgerLine;
use crate::scheduler::JobTask;

impl Front {
    /// Applies a line of a part file; whether it is the row of a case that had none, which is to be copied.
    pub fn hear(&mut self, attempt: Attempt, line: &PartLine, now: Timestamp) -> bool {
        self.changed |= !matches!(line, PartLine::Beat { .. });
        if let PartLine::Case(row) = line {
            return self.hear_row(attempt, &row.id, now);
        }
        if matches!(line, PartLine::Ended { .. }) {
            self.late.remove(&attempt);
        }
        let Some(known) = self.live.get_mut(&attempt) else { return false };
        known.told.hear(line, now);
        if let Some((running, _)) = &known.told.running
            && self.rows.contains(running)
        {
            known.told.running = None;
        }
        if let PartLine::Begun { place, .. } = line {
            let submission = known.submission;
            self.submitted(submission, place.job);
        }
        false
    }

    fn hear_row(&mut self, attempt: Attempt, id: &str, now: Timestamp) -> bool {
        if !self.owners.contains_key(id) {
            return false;
        }
        if let Some(known) = self.live.get_mut(&attempt) {
            known.told.heard = now;
            known.told.rows += 1;
            known.told.has_row(id);
        }
        if self.outdated.get(id).is_some_and(|last| attempt.attempt <= *last) {
            return false;
        }
        let is_new = self.add_row(id);
        self.records.extend(is_new.then(|| self.renewal(id)).flatten());
        // A new front reads again what an earlier one has copied.
        let is_known = !self.told.insert(id.to_owned());
        self.duplicates += usize::from(is_known);
        is_new
    }

    /// The line for the ledger where the row of a case is that of a case that runs again.
    pub(super) fn renewal(&self, id: &str) -> Option<LedgerLine> {
        self.outdated.contains_key(id).then(|| LedgerLine::Renewed { case: id.to_owned() })
    }

    /// Records that a case has a row; whether it had none.
    pub(super) fn add_row(&mut self, id: &str) -> bool {
        let Some(&owner) = self.owners.get(id) else { return false };
        if !self.rows.insert(id.to_owned()) {
            return false;
        }
        let task = &mut self.tasks[owner];
        task.left.retain(|left| left != id);
        let standing = task.standing;
        if let Standing::Live(attempt) = standing
            && let Some(known) = self.live.get_mut(&attempt)
        {
            known.told.has_row(id);
        } else if task.left.is_empty() {
            task.standing = Standing::Done;
        }
        true
    }

    /// Records that the scheduler does not answer. Nothing follows for attempts.
    pub fn unanswered(&mut self) {
        self.is_answered = false;
    }

    /// Applies an answer of the scheduler.
    pub fn polled(&mut self, tasks: &[JobTask], now: Timestamp) {
        self.is_answered = true;
        self.find_sent(tasks, now);
        let by_place: HashMap<(u64, u32), &JobTask> =
            tasks.iter().map(|task| ((task.job, task.index), task)).collect();
        for known in self.live.values_mut() {
            let Some(job) = self.sent.get(&known.submission).and_then(|sent| sent.job) else { continue };
            let task = by_place.get(&(job, known.index)).copied();
            self.changed |= task.map(|task| &task.state) != known.state();
            known.queue.polled(task, &self.policy, now);
        }
    }

    /// Searches the answer for arrays that may not have arrived. One that is missing twice is given up.
    fn find_sent(&mut self, tasks: &[JobTask], now: Timestamp) {
        let open = self.sent.iter().filter(|(_, sent)| sent.job.is_none()).map(|(number, _)| *number);
        for number in open.collect::<Vec<_>>() {
            let comment = self.comment(number);
            if let Some(task) = tasks.iter().find(|task| task.comment == comment) {
                self.submitted(number, task.job);
                continue;
            }
            let sent = self.sent.get_mut(&number).expect("it was listed");
            let first = *sent.missing.get_or_insert(now);
            if seconds_between(first, now) >= self.policy.confirm_seconds {
                self.records.push(LedgerLine::Missing { submission: number });
                self.miss(number);
            }
        }
    }

    /// Records that an array was accepted, with a line for the ledger if that is new.
    pub fn submitted(&mut self, number: u32, job: u64) {
        if let Some(sent) = self.sent.get_mut(&number)
            && sent.job.is_none()
        {
            sent.job = Some(job);
            self.changed = true;
            self.records.push(LedgerLine::Submitted { submission: number, job });
        }
    }

    /// Records that an array was refused. `full`: because there are too many tasks in the queue; then fewer are sent.
    pub fn refused(&mut self, number: u32, full: bool, reason: &str, now: Timestamp) {
        let count = self.sent.get(&number).map_or(0, |sent| sent.attempts.len());
        if full && count > 1 {
            self.array_size = (count / 2) as u32;
        } else if full {
            self.hold_until = Some(later(now, self.policy.full_seconds));
        }
        self.records.push(LedgerLine::Refused { submission: number, reason: reason.to_owned() });
        self.release(number);
    }

    /// An array was given up, and may arrive nevertheless.
    pub(crate) fn miss(&mut self, number: u32) {
        let attempts = self.sent.get(&number).map(|sent| sent.attempts.clone());
        self.late.extend(attempts.unwrap_or_default());
        self.release(number);
    }

    /// Its attempts were never in the queue.
    pub(crate) fn release(&mut self, number: u32) {
        for attempt in self.sent.remove(&number).map(|sent| sent.attempts).unwrap_or_default() {
            self.live.remove(&attempt);
            let task = &mut self.tasks[attempt.task as usize];
            if task.standing == Standing::Live(attempt) {
                task.standing = if task.left.is_empty() { Standing::Done } else { Standing::Waiting };
            }
        }
        self.changed = true;
    }

    /// Records that the scheduler was asked to cancel attempts.
    pub fn cancelled(&mut self, cancellation: &Cancellation) {
        for attempt in &cancellation.attempts {
            if let Some(known) = self.live.get_mut(attempt) {
                known.cancelled = true;
            }
        }
    }

    /// Ends the run for its user: nothing more is sent, and what was sent is cancelled.
    pub fn end(&mut self) {
        self.ending = true;
    }
}

/// The time this number of seconds later.
fn later(now: Timestamp, seconds: f64) -> Timestamp {
    now.saturating_add(jiff::SignedDuration::from_secs_f64(seconds)).unwrap_or(now)
}
