//! Events that a run reports, and its summary at the end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gpbench_record::{FaultCause, Labels, Row, Status};

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Cases of the plan.
    pub total: usize,
    /// Cases with a row, those of earlier attempts included.
    pub done: usize,
    /// Those of `done` whose status is a failure.
    pub failed: usize,
}

/// What happened in a run, reported on the caller's thread in order.
#[derive(Debug, Clone)]
pub enum Event {
    /// The folder is open.
    Begun {
        /// The run folder.
        folder: PathBuf,
        /// Whether an earlier attempt is continued.
        resumed: bool,
        /// What earlier attempts have done.
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
        /// The progress of the run.
        progress: Progress,
    },
    /// What the user should know, without any case failing.
    Warning(String),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The run folder.
    pub folder: PathBuf,
    /// Cases of the plan.
    pub total: usize,
    /// Cases run in this attempt.
    pub ran: usize,
    /// Cases by status, over all attempts.
    pub statuses: BTreeMap<Status, usize>,
    /// The signal that ended this attempt early.
    pub interrupted: Option<i32>,
    /// The limit that ended this attempt early.
    pub stopped: Option<Stop>,
    /// Cases that this attempt tried, and that have no row because the machine or a file was at fault.
    pub without_rows: Vec<CaseWithoutRow>,
}

/// A case that has no row because the machine or a file was at fault. The next attempt tries it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseWithoutRow {
    /// The case's names on the axes.
    pub labels: Labels,
    /// What was at fault.
    pub cause: FaultCause,
    /// What failed and why.
    pub reason: String,
}

impl CaseWithoutRow {
    /// What the case needs before it can be run again.
    pub fn advice(&self) -> &'static str {
        match self.cause {
            FaultCause::Dataset => "restore the data set, and check the disk of the cache",
            FaultCause::Reference => "check the disk of the cache, or lower --exact-limit",
            FaultCause::Checkpoint | FaultCause::Solution => "check the disk of the run folder",
            FaultCause::Plugin => {
                "restore the library as it was when the run began, or start anew with --fresh"
            }
            FaultCause::Worker => "see the log of the case, and restore gpbench-worker if it was replaced",
            FaultCause::Storage => "make room, and let this user write there",
            FaultCause::Resources => {
                "raise the limits on processes, open files and memory, or use fewer --jobs and --threads"
            }
        }
    }
}

/// A limit on an attempt that was reached before its last case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The largest permitted number of cases has failed.
    Failures,
    /// The time limit is reached.
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
