//! What a person is told of a cluster run.

use std::collections::BTreeMap;

use gpbench_record::Attempt;

use crate::front::known::Known;
use crate::front::state::{Front, Standing};
use crate::scheduler::State;

/// How far a cluster run is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
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
    /// Attempts of which the scheduler has not yet told anything.
    pub sent: usize,
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

/// What is to be said of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskNote {
    /// The last attempt at it.
    pub attempt: Attempt,
    /// Most attempts at it that may fail.
    pub most: u32,
    /// What its last attempt ended with.
    pub reason: String,
    /// What a person can do; empty where it is tried again.
    pub remedy: &'static str,
}

impl Front {
    /// How far the run is.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary {
            cases: self.owners.len(),
            rows: self.owners.keys().filter(|id| self.rows.contains(*id)).count(),
            duplicates: self.duplicates,
            banned: self.banned().into_iter().collect(),
            ..Summary::default()
        };
        self.live.values().for_each(|known| summary.count(known));
        for (index, task) in (0..).zip(&self.tasks) {
            let note = |remedy| TaskNote {
                attempt: Attempt { task: index, attempt: task.attempts },
                most: self.policy.retries + 1,
                reason: task.last.clone().unwrap_or_default(),
                remedy,
            };
            match task.standing {
                Standing::Waiting => summary.waiting += 1,
                Standing::Live(_) if task.failures > 0 => summary.retried.push(note("")),
                Standing::Withdrawn => summary.given_up.push(note(
                    "somebody else cancelled it: ask who administers the cluster, then run the same again",
                )),
                Standing::Spent => {
                    summary.given_up.push(note("mend the cause, then run the same again"));
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

impl Summary {
    /// Counts an attempt that is not over.
    fn count(&mut self, known: &Known) {
        match known.queue.seen.as_ref().map(|task| (&task.state, &task.reason)) {
            Some((State::Pending, reason)) if known.told.begun.is_none() => {
                *self.queued.entry(reason.clone()).or_default() += 1;
            }
            None if known.told.begun.is_none() => self.sent += 1,
            _ => *self.running.entry(known.node().unwrap_or_default().to_owned()).or_default() += 1,
        }
    }
}
