//! The cases of an attempt, and where their rows and files go.

use std::collections::HashSet;

use gpbench_record::{ComposedLibrary, Environment, PlannedCase};
use gpbench_runs::{Attempts, Workspace};

use crate::{Beginning, Planned, Reused, RowSink};

/// Cases to run, and where their rows and files go.
pub struct Workload<'a> {
    /// All cases that progress is counted over.
    pub cases: &'a [PlannedCase],
    /// Those that have no row, in the order in which they run.
    pub pending: Vec<Planned<'a>>,
    /// The libraries that consist of more than their file.
    pub libraries: &'a [ComposedLibrary],
    /// Folders of the files of running cases. They exist.
    pub workspace: &'a Workspace,
    /// Destination of the rows.
    pub rows: &'a mut (dyn RowSink + 'static),
    /// The record of started cases.
    pub attempts: Attempts,
    /// Where the cases run.
    pub environment: &'a Environment,
    /// Whether earlier work is continued, or why not.
    pub beginning: Beginning,
    /// The rows that were taken from earlier runs.
    pub reused: Reused,
    /// The ids of the cases whose solutions are kept, by [`crate::kept_sample`] of the whole plan.
    pub kept: HashSet<String>,
}
