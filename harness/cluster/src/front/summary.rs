//! The summary of a cluster run for people.

use std::collections::BTreeMap;

use gpbench_record::Attempt;

use crate::front::known::Known;
use crate::front::state::{Front, Standing};
use crate::scheduler::{CancelTarget, TaskState};

/// The progress of a cluster run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrontSummary {
    /// Cases.
    pub cases: usize,
    /// Cases with rows.
    pub rows: usize,
    /// Rows that came a second time, and were not copied.
    pub duplicates: usize,
    /// Attempts that run, by node; an empty name where it is not known.
    pub running: BTreeMap<String, usize>,
    /// Attempts that wait in the queue, by the scheduler's reason.
    pub queued: BTreeMap<String, usize>,
    /// Attempts that the scheduler has accepted, and of which it has not yet told anything.
    pub sent: usize,
    /// Attempts that were sent without an answer of the scheduler, which may have them or not.
    pub unanswered: usize,
    /// Attempts that have ended with cases left, before what follows is decided.
    pub ended: usize,
    /// Attempts that may be queued or running, as the scheduler calls them.
    pub living: Vec<CancelTarget>,
    /// Tasks that are to be sent.
    pub waiting: usize,
    /// Nodes on which several tasks have failed quickly; nothing is sent there.
    pub banned: Vec<String>,
    /// Tasks that have failed and are tried again.
    pub retried: Vec<TaskNote>,
    /// Tasks that are not tried again.
    pub given_up: Vec<TaskNote>,
    /// Cases without rows that are not tried again.
    pub left: Vec<String>,
}

/// A note about a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskNote {
    /// The last attempt at it.
    pub attempt: Attempt,
    /// Attempts at it that failed.
    pub failures: u32,
    /// After how many failed attempts it is given up.
    pub most: u32,
    /// Ids of its cases without rows.
    pub left: Vec<String>,
    /// How the last attempt that is over ended, and the node, where known.
    pub reason: String,
    /// What a person can do; empty where it is tried again.
    pub remedy: &'static str,
}

impl Front {
    /// The progress of the run.
    pub fn summary(&self) -> FrontSummary {
        let mut summary = FrontSummary {
            cases: self.owners.len(),
            rows: self.owners.keys().filter(|id| self.rows.contains(*id)).count(),
            duplicates: self.duplicates,
            banned: self.banned().into_iter().collect(),
            ..FrontSummary::default()
        };
        for (attempt, known) in &self.live {
            let job = self.sent.get(&known.submission).and_then(|sent| sent.job);
            let is_needed = !self.tasks[attempt.task as usize].left.is_empty();
            match job {
                _ if known.has_ended() => summary.ended += usize::from(is_needed),
                None => summary.unanswered += 1,
                Some(job) => summary.count(CancelTarget::Task(job, known.index), known),
            }
        }
        for (index, task) in (0..).zip(&self.tasks) {
            let note = |remedy| TaskNote {
                attempt: Attempt { task: index, attempt: task.attempts },
                failures: task.failures,
                most: self.policy.retries + 1,
                left: task.left.clone(),
                reason: task.last.clone().unwrap_or_default(),
                remedy,
            };
            match task.standing {
                Standing::Waiting | Standing::Live(_) if task.failures > 0 => {
                    summary.waiting += usize::from(task.standing == Standing::Waiting);
                    summary.retried.push(note(""));
                }
                Standing::Waiting => summary.waiting += 1,
                Standing::Withdrawn => summary.given_up.push(note(
                    "somebody else cancelled it: ask who administers the cluster, then run the same again",
                )),
                Standing::Spent => {
                    summary.given_up.push(note("fix the cause, then run the same again"));
                }
                Standing::Live(_) | Standing::Done => {}
            }
            if matches!(task.standing, Standing::Withdrawn | Standing::Spent) {
                summary.left.extend(task.left.iter().cloned());
            }
        }
        summary
    }
}

impl FrontSummary {
    /// Counts an attempt that may be queued or running.
    fn count(&mut self, target: CancelTarget, known: &Known) {
        self.living.push(target);
        match known.queue.seen.as_ref().map(|task| (&task.state, &task.reason)) {
            Some((TaskState::Pending, reason)) if known.told.begun.is_none() => {
                *self.queued.entry(reason.clone()).or_default() += 1;
            }
            None if known.told.begun.is_none() => self.sent += 1,
            _ => *self.running.entry(known.node().unwrap_or_default().to_owned()).or_default() += 1,
        }
    }
}
