//! The actions that follow from the state of the front.

use gpbench_record::Attempt;
use jiff::Timestamp;

use crate::front::judge::{self, Verdict};
use crate::front::known::{Known, seconds_between};
use crate::front::state::{Action, Cancellation, Front, FrontRow, Standing};
use crate::ledger::{Cause, LedgerLine, Loss, Withdrawal};
use crate::scheduler::CancelTarget;

impl Front {
    /// The actions to take now.
    pub fn step(&mut self, now: Timestamp) -> Vec<Action> {
        let mut rows = Vec::new();
        for attempt in self.live.keys().copied().collect::<Vec<_>>() {
            self.judge(attempt, now, &mut rows);
        }
        let mut actions: Vec<Action> = rows.into_iter().map(Action::Row).collect();
        let cancellation = self.cancellation(now);
        actions.extend(self.records.drain(..).map(Action::Record));
        actions.extend(cancellation.map(Action::Cancel));
        if !self.ending {
            actions.extend(self.submissions(now).into_iter().map(Action::Submit));
        }
        actions
    }

    fn judge(&mut self, attempt: Attempt, now: Timestamp, rows: &mut Vec<FrontRow>) {
        let (known, task) = (&self.live[&attempt], &self.tasks[attempt.task as usize]);
        if task.left.is_empty() {
            // Otherwise another copy has written rows, and this one has to be cancelled.
            if known.has_ended() {
                self.close(attempt, Standing::Done);
            }
            return;
        }
        if !judge::is_over(known, &self.policy, now) {
            return;
        }
        let running = known.told.running.as_ref().map(|(id, _)| id.clone());
        let kills = running.as_ref().and_then(|id| self.kills.get(id)).copied().unwrap_or_default();
        let verdict = judge::judge(known, kills, &self.policy);
        let loss = self.loss(attempt, &verdict);
        if let (Some((status, reason)), Some(id)) = (verdict.row, running) {
            let node = known_node(&self.live[&attempt]);
            self.add_row(&id);
            self.records.extend(self.renewal(&id));
            self.told.insert(id.clone());
            rows.push(FrontRow { id, status, reason, attempt, node });
        }
        self.records.push(LedgerLine::Lost(loss.clone()));
        if self.live[&attempt].told.ending.is_none() {
            self.late.insert(attempt);
        }
        self.lose(&loss);
    }

    /// The line of the ledger about the end of an attempt.
    fn loss(&self, attempt: Attempt, verdict: &Verdict) -> Loss {
        let known = &self.live[&attempt];
        let added = known.told.rows > 0 || known.told.advanced || verdict.row.is_some();
        let counts = match verdict.cause {
            Cause::Machine => true,
            Cause::Killed => verdict.row.is_none(),
            Cause::Interrupted => !added,
            Cause::Preempted | Cause::Case | Cause::Withdrawn | Cause::Ours => false,
        };
        let lasted = known.told.begun.map_or(0.0, |begun| seconds_between(begun, known.told.last));
        let is_quick = verdict.cause == Cause::Machine && lasted < self.policy.quick_seconds;
        Loss {
            attempt,
            cause: verdict.cause,
            reason: verdict.reason.clone(),
            node: known_node(known),
            case: known.told.running.as_ref().map(|(id, _)| id.clone()),
            counts,
            quick: is_quick,
        }
    }

    /// Records that an attempt is over and has left cases without rows.
    pub(crate) fn lose(&mut self, loss: &Loss) {
        let Loss { attempt, cause, reason, node, case, counts, quick } = loss;
        if let (Cause::Killed, Some(case)) = (cause, case) {
            *self.kills.entry(case.clone()).or_default() += 1;
        }
        let Some(task) = self.tasks.get_mut(attempt.task as usize) else { return };
        let place = node.as_ref().map(|node| format!(" ({node})"));
        task.last = Some(format!("{reason}{}", place.unwrap_or_default()));
        task.failures += u32::from(*counts);
        if let (Cause::Machine | Cause::Killed, Some(node)) = (cause, node) {
            task.excluded.insert(node.clone());
            if *quick {
                self.quick.entry(node.clone()).or_default().insert(attempt.task);
            }
        }
        if let (Cause::Interrupted | Cause::Preempted, Some(case)) = (cause, case)
            && let Some(place) = task.left.iter().position(|left| left == case)
        {
            // It has all of the next attempt's time.
            task.left[..=place].rotate_right(1);
        }
        let standing = match cause {
            _ if task.left.is_empty() => Standing::Done,
            Cause::Withdrawn => Standing::Withdrawn,
            _ if task.failures > self.policy.retries => Standing::Spent,
            _ => Standing::Waiting,
        };
        self.close(*attempt, standing);
    }

    /// Forgets an attempt that is over.
    fn close(&mut self, attempt: Attempt, standing: Standing) {
        self.tasks[attempt.task as usize].standing = standing;
        self.changed = true;
        if let Some(known) = self.live.remove(&attempt)
            && let Some(sent) = self.sent.get_mut(&known.submission)
        {
            sent.attempts.retain(|other| *other != attempt);
            if sent.attempts.is_empty() {
                self.sent.remove(&known.submission);
            }
        }
    }

    /// Attempts to cancel now.
    fn cancellation(&mut self, now: Timestamp) -> Option<Cancellation> {
        let mut cancellation = Cancellation { attempts: Vec::new(), targets: Vec::new() };
        for (attempt, known) in &mut self.live {
            let Some(job) = self.sent.get(&known.submission).and_then(|sent| sent.job) else { continue };
            if known.cancelled || known.queue.gone.is_some() {
                continue;
            }
            let is_needed = !self.tasks[attempt.task as usize].left.is_empty();
            let why = match known.withdrawal {
                Some(known) => Some(known),
                None if self.ending => Some(Withdrawal::User),
                None if !is_needed => Some(Withdrawal::Unneeded),
                None => judge::withdrawal(known, &self.policy, now),
            };
            let Some(why) = why else { continue };
            if known.withdrawal.replace(why).is_none() {
                self.records.push(LedgerLine::Cancelled { attempt: *attempt, why });
            }
            cancellation.attempts.push(*attempt);
            let is_users = why == Withdrawal::User;
            let target =
                if is_users { CancelTarget::Array(job) } else { CancelTarget::Task(job, known.index) };
            cancellation.targets.push(target);
        }
        cancellation.targets.sort_unstable();
        cancellation.targets.dedup();
        (!cancellation.attempts.is_empty()).then_some(cancellation)
    }
}

fn known_node(known: &Known) -> Option<String> {
    known.node().map(str::to_owned)
}
