//! What a run tells while it goes on, and what it says at its end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gpbench_record::{Labels, Row, Status};

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Cases of the plan.
    pub total: usize,
    /// Cases with a terminal row, those of earlier sittings included.
    pub done: usize,
    /// Those of `done` whose status is a failure.
    pub failed: usize,
}

/// Something that happened, told on the caller's thread in the order in which it did.
#[derive(Debug, Clone)]
pub enum Event {
    /// The folder is open.
    Begun {
        /// The run folder.
        folder: PathBuf,
        /// Whether an earlier sitting is continued.
        resumed: bool,
        /// What earlier sittings left.
        progress: Progress,
    },
    /// An exact reference is being computed.
    ExactStarted {
        /// The first case that needs it.
        labels: Labels,
        /// Training rows.
        n: usize,
    },
    /// A case is about to run.
    CaseStarted {
        /// Its id.
        id: String,
        /// Its axes.
        labels: Labels,
    },
    /// A case ended, and its row is on the disk.
    CaseFinished {
        /// The row.
        row: Box<Row>,
        /// How far the run has come with it.
        progress: Progress,
    },
    /// Something that the user should know and that fails no case.
    Warning(String),
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The run folder.
    pub folder: PathBuf,
    /// Cases of the plan.
    pub total: usize,
    /// Cases run in this sitting.
    pub ran: usize,
    /// Cases by status, over all sittings.
    pub statuses: BTreeMap<Status, usize>,
    /// The signal that ended this sitting early.
    pub interrupted: Option<i32>,
    /// The bound that ended this sitting early.
    pub stopped: Option<Stop>,
}

/// A bound on a whole sitting that was reached before its last case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// As many cases have failed as may.
    Failures,
    /// The time is over.
    Time,
}

impl Summary {
    /// Cases whose status is a failure.
    pub fn failures(&self) -> usize {
        self.statuses.iter().filter(|(status, _)| status.is_failure()).map(|(_, count)| count).sum()
    }

    /// Whether every planned case has its row.
    pub fn is_complete(&self) -> bool {
        self.statuses.values().sum::<usize>() == self.total
    }
}
