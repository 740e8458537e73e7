//! The front: the state of a cluster run, and what it does next.
//!
//! It reads no file, no scheduler and no clock: all of these are passed in, and it returns [`Action`]s. So it can
//! be tested with any sequence of events, and another front with the same events decides the same.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use gpbench_record::{Attempt, CaseStatus, ClusterTask, Manifest};
use jiff::Timestamp;

use crate::front::known::Known;
use crate::front::policy::Policy;
use crate::ledger::LedgerLine;
use crate::limits::ClusterLimits;
use crate::scheduler::{Array, CancelTarget};

/// The next actions, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// To append a line to the ledger.
    Record(LedgerLine),
    /// To write a row in place of the runner.
    Row(FrontRow),
    /// To send an array: its intent is recorded, its part files are made, and the front is told what came of it.
    Submit(Submission),
    /// To cancel attempts. The front is told of the success, or else asks again.
    Cancel(Cancellation),
}

/// A row that no runner could write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontRow {
    /// The case.
    pub id: String,
    /// How it ended.
    pub status: CaseStatus,
    /// One sentence.
    pub reason: String,
    /// The attempt that it ended in.
    pub attempt: Attempt,
    /// The node, where known.
    pub node: Option<String>,
}

/// An array to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// Its number.
    pub number: u32,
    /// The attempts, in the order of the array's indices, and the cases of each.
    pub attempts: Vec<(Attempt, Vec<String>)>,
    /// The array.
    pub array: Array,
}

/// Attempts to be cancelled.
#[derive(Debug, Clone, PartialEq)]
pub struct Cancellation {
    /// The attempts.
    pub attempts: Vec<Attempt>,
    /// Their names in the scheduler.
    pub targets: Vec<CancelTarget>,
}

/// A task.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    /// Its cases without rows, in the order in which they are to run.
    pub(crate) left: Vec<String>,
    /// The number of the last attempt.
    pub(crate) attempts: u32,
    /// Attempts that count as retries.
    pub(crate) failures: u32,
    /// Nodes on which it failed.
    pub(crate) excluded: BTreeSet<String>,
    /// How its last attempt ended.
    pub(crate) last: Option<String>,
    pub(crate) standing: Standing,
}

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is to be sent.
    Waiting,
    /// An attempt is not over.
    Live(Attempt),
    /// Somebody else has cancelled it.
    Withdrawn,
    /// It has failed too often.
    Spent,
    /// All of its cases have rows.
    Done,
}

/// An array that was sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sent {
    pub(crate) attempts: Vec<Attempt>,
    /// Its job id, once known.
    pub(crate) job: Option<u64>,
    /// The first of the last answers of the scheduler that did not know it.
    pub(crate) missing: Option<Timestamp>,
}

/// A cluster run.
#[derive(Debug, Clone)]
pub struct Front {
    pub(crate) run: String,
    pub(crate) manifest_tasks: Vec<ClusterTask>,
    pub(crate) limits: ClusterLimits,
    pub(crate) policy: Policy,
    pub(crate) tasks: Vec<Task>,
    /// The task of each case.
    pub(crate) owners: HashMap<String, usize>,
    /// Cases with rows.
    pub(crate) rows: HashSet<String>,
    /// Cases that run again, each with the number of the last attempt whose row of it does not count.
    pub(crate) outdated: HashMap<String, u32>,
    /// Cases whose rows were told since this front began.
    pub(crate) told: HashSet<String>,
    /// Attempts that are not over.
    pub(crate) live: BTreeMap<Attempt, Known>,
    /// Attempts that were given up, and whose runners may still live.
    pub(crate) late: BTreeSet<Attempt>,
    /// Attempts whose part files have not been read since this front began.
    pub(crate) unread: BTreeSet<Attempt>,
    /// Arrays by their numbers; those of which no attempt is left are forgotten.
    pub(crate) sent: BTreeMap<u32, Sent>,
    /// The number of the last array.
    pub(crate) submissions: u32,
    /// How often each case was running when its attempt was killed.
    pub(crate) kills: HashMap<String, u32>,
    /// Tasks that failed quickly, by node.
    pub(crate) quick: BTreeMap<String, BTreeSet<u32>>,
    /// Most tasks of an array that the scheduler is known to accept.
    pub(crate) array_size: u32,
    /// Nothing is sent before.
    pub(crate) hold_until: Option<Timestamp>,
    /// Whether the user ends the run.
    pub(crate) ending: bool,
    /// Rows that came a second time.
    pub(crate) duplicates: usize,
    /// Lines for the ledger.
    pub(crate) records: Vec<LedgerLine>,
    /// Whether the scheduler gave its last answer.
    pub(crate) is_answered: bool,
    /// Whether anything has changed since [`Front::take_changed`].
    pub(crate) changed: bool,
}

impl Front {
    /// A front with the state from the files of a run: ids of the cases that have rows, the ledger, and the attempts that
    /// have part files.
    pub fn new(
        manifest: &Manifest,
        limits: ClusterLimits,
        policy: Policy,
        rows: HashSet<String>,
        ledger: &[LedgerLine],
        parts: &[Attempt],
        now: Timestamp,
    ) -> Self {
        let owners = manifest.tasks.iter().enumerate();
        let owners = owners.flat_map(|(task, cases)| cases.cases.iter().map(move |id| (id.clone(), task)));
        let mut front = Self {
            run: manifest.run.clone(),
            tasks: manifest.tasks.iter().map(|task| Task::new(task, &rows)).collect(),
            manifest_tasks: manifest.tasks.clone(),
            array_size: limits.array_size,
            limits,
            policy,
            owners: owners.collect(),
            rows,
            outdated: HashMap::new(),
            told: HashSet::new(),
            live: BTreeMap::new(),
            late: BTreeSet::new(),
            unread: parts.iter().copied().collect(),
            sent: BTreeMap::new(),
            submissions: 0,
            kills: HashMap::new(),
            quick: BTreeMap::new(),
            hold_until: None,
            ending: false,
            duplicates: 0,
            records: Vec::new(),
            is_answered: false,
            changed: true,
        };
        ledger.iter().for_each(|line| front.replay(line, now));
        for part in parts {
            if let Some(task) = front.tasks.get_mut(part.task as usize) {
                task.attempts = task.attempts.max(part.attempt);
            }
        }
        front
    }

    /// Attempts whose part files are to be read now: not those that wait in the queue, as far as the scheduler answers.
    pub fn watched(&mut self) -> Vec<Attempt> {
        let is_read = |known: &Known| !(self.is_answered && known.waits());
        let live = self.live.iter().filter(|(_, known)| is_read(known)).map(|(attempt, _)| *attempt);
        let mut watched: BTreeSet<Attempt> = live.chain(self.late.iter().copied()).collect();
        watched.append(&mut self.unread);
        watched.into_iter().collect()
    }

    /// Lines for the ledger that no action holds.
    pub fn take_records(&mut self) -> Vec<LedgerLine> {
        std::mem::take(&mut self.records)
    }

    /// Whether anything has changed since the last call.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Whether nothing is left to do: each case has a row, or its task will not be sent again.
    pub fn is_finished(&self) -> bool {
        let is_settled = |task: &Task| match task.standing {
            Standing::Waiting => self.ending,
            Standing::Live(_) => false,
            Standing::Withdrawn | Standing::Spent | Standing::Done => true,
        };
        self.tasks.iter().all(is_settled)
    }

    /// The comment that tells an array from others.
    pub(crate) fn comment(&self, number: u32) -> String {
        format!("{}.{number}", self.run)
    }
}

impl Task {
    fn new(task: &ClusterTask, rows: &HashSet<String>) -> Self {
        let left: Vec<String> = task.cases.iter().filter(|id| !rows.contains(*id)).cloned().collect();
        Self {
            standing: if left.is_empty() { Standing::Done } else { Standing::Waiting },
            left,
            attempts: 0,
            failures: 0,
            excluded: BTreeSet::new(),
            last: None,
        }
    }
}
