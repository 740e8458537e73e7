//! The state of a new front, replayed from the ledger.

use gpbench_record::Attempt;
use jiff::Timestamp;

use crate::front::known::Known;
use crate::front::state::{Front, Sent, Standing};
use crate::ledger::LedgerLine;
use crate::limits::ResourceRequest;

impl Front {
    /// Applies the next line of the ledger. Lines about tasks that the manifest does not have are ignored.
    pub(super) fn replay(&mut self, line: &LedgerLine, now: Timestamp) {
        match line {
            LedgerLine::Resumed => self.forgive(),
            LedgerLine::Intent { submission, attempts, request } => {
                self.replay_intent(*submission, attempts, *request, now);
            }
            LedgerLine::Submitted { submission, job } => {
                if let Some(sent) = self.sent.get_mut(submission) {
                    sent.job = Some(*job);
                }
            }
            LedgerLine::Refused { submission, .. } => self.release(*submission),
            LedgerLine::Missing { submission } => self.miss(*submission),
            LedgerLine::Cancelled { attempt, why } => {
                if let Some(known) = self.live.get_mut(attempt) {
                    known.withdrawal = Some(*why);
                }
            }
            LedgerLine::Lost(loss) => {
                self.late.insert(loss.attempt);
                self.lose(loss);
            }
            LedgerLine::Again { cases } => self.run_again(cases),
            LedgerLine::Renewed { case } => {
                self.add_row(case);
            }
            LedgerLine::Unknown => {}
        }
    }

    /// Gives every task all of its retries again, and permits every node again.
    fn forgive(&mut self) {
        self.quick.clear();
        for task in &mut self.tasks {
            task.failures = 0;
            task.excluded.clear();
            if matches!(task.standing, Standing::Withdrawn | Standing::Spent) {
                task.standing = Standing::Waiting;
            }
        }
    }

    fn replay_intent(
        &mut self,
        number: u32,
        attempts: &[Attempt],
        request: Option<ResourceRequest>,
        now: Timestamp,
    ) {
        self.submissions = self.submissions.max(number);
        let mut sent = Sent::default();
        for (index, attempt) in (0..).zip(attempts) {
            let place = attempt.task as usize;
            let Some(task) = self.tasks.get_mut(place) else { continue };
            task.attempts = task.attempts.max(attempt.attempt);
            if task.standing == Standing::Done {
                // Nothing is left to do for it. If it runs nevertheless, it ends by itself.
                continue;
            }
            task.standing = Standing::Live(*attempt);
            sent.attempts.push(*attempt);
            let request = request.unwrap_or(ResourceRequest::of(&self.manifest_tasks[place]));
            self.live.insert(*attempt, Known::new(number, index, request, now));
        }
        if !sent.attempts.is_empty() {
            self.sent.insert(number, sent);
        }
    }
}
