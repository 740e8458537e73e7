//! Events that a run reports, and its summary at the end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gpbench_record::{CaseStatus, FaultCause, Labels, Metrics, Row};

use crate::ReferenceKind;

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunProgress {
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
        /// Whether an earlier attempt is continued, or why not.
        beginning: Beginning,
        /// The rows that were taken from earlier runs.
        reused: Reused,
        /// What earlier attempts have done, re-used rows included.
        progress: RunProgress,
    },
    /// A reference is being computed.
    ReferenceStarted {
        /// The first case that needs it.
        labels: Labels,
        /// Its kind.
        kind: ReferenceKind,
        /// Training rows.
        n: usize,
        /// Whether it was begun before, and did not end.
        again: bool,
    },
    /// A case is about to run.
    CaseStarted {
        /// Its id.
        id: String,
        /// Its axes.
        labels: Labels,
    },
    /// A case that is running has come further.
    CaseAdvanced {
        /// Its id.
        id: String,
        /// The share of its work that is done, where that is known.
        share: Option<f64>,
        /// What is known at this point.
        metrics: Metrics,
    },
    /// A case ended, and its row is on the disk.
    CaseFinished {
        /// The row.
        row: Box<Row>,
        /// The progress of the run.
        progress: RunProgress,
    },
    /// A warning that no case has failed for.
    Warning(String),
}

/// What a run took from earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reused {
    /// Cases whose rows were taken.
    pub cases: usize,
    /// Cases that are finished too, but ran in another environment, so that they run again.
    pub elsewhere: usize,
    /// Names of the fields in which those environments differ.
    pub differences: Vec<&'static str>,
}

/// How a run folder relates to earlier ones of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// It is continued.
    Continued,
    /// It is new, as the user asked.
    Fresh,
    /// It is new, and the first of its name.
    First,
    /// It is new, because the newest one has other cases.
    Changed {
        /// Cases of both.
        same: usize,
        /// Cases of the same names, with other settings, another plugin, other data, or another build of gpbench.
        changed: usize,
        /// Cases whose names the earlier run does not have.
        added: usize,
        /// Cases whose names this run does not have.
        removed: usize,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// The run folder.
    pub folder: PathBuf,
    /// Cases of the plan.
    pub total: usize,
    /// Cases run in this attempt.
    pub ran: usize,
    /// Cases that this attempt was to run and did not.
    pub left: usize,
    /// Cases by status, over all attempts.
    pub statuses: BTreeMap<CaseStatus, usize>,
    /// The signal that ended this attempt early.
    pub interrupted: Option<i32>,
    /// The limit that ended this attempt early.
    pub stopped: Option<Stop>,
    /// The share of the processors that other programs used during this attempt, where that is known.
    pub other_load: Option<f64>,
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
    /// Advice: what has to be done before the case can run again.
    pub fn advice(&self) -> &'static str {
        match self.cause {
            FaultCause::Dataset => "restore the data set, and check the disk of the cache",
            FaultCause::Reference => "check the disk of the cache, or lower --exact-limit",
            FaultCause::Checkpoint | FaultCause::Solution => "check the disk of the run folder",
            FaultCause::Plugin => {
                "restore the library as it was when the run began, or start a new run with --fresh"
            }
            FaultCause::Worker => "see the log of the case, and restore gpbench-worker if it was replaced",
            FaultCause::Storage => "make room, and let this user write there",
            FaultCause::Resources => {
                "raise the limits on processes, open files and memory, or use fewer --jobs and --threads"
            }
            FaultCause::Standstill => "run it while the machine is not suspended",
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

impl RunSummary {
    /// Cases whose status is a failure.
    pub fn failures(&self) -> usize {
        self.statuses.iter().filter(|(status, _)| status.is_failure()).map(|(_, count)| count).sum()
    }

    /// Whether every planned case has its row.
    pub fn is_complete(&self) -> bool {
        self.statuses.values().sum::<usize>() == self.total
    }
}
