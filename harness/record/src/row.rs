//! Rows of a run's journal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Case, CaseStatus, FileUnits, Hyperparameters, Labels, Metrics, NodePlace, Predictions, TaskOutput,
};

/// Largest number of points in the trace of a case.
pub const MOST_TRACE_POINTS: usize = 20_000;

/// A point along a solve, on the clock of prepare and solve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// The solver's iteration.
    pub iteration: u64,
    /// Seconds since prepare began, evaluation of trace points excluded.
    pub seconds: f64,
    /// Kernel entries used so far over n^2.
    pub epochs: f64,
    /// Metrics of the current iterate, including `claimed_residual_y` if the solver reports one.
    pub metrics: Metrics,
}

/// The terminal row of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The case's id.
    pub id: String,
    /// Names on the spec's axes.
    pub labels: Labels,
    /// The resolved case.
    pub case: Case,
    /// Status of the case.
    pub status: CaseStatus,
    /// One sentence that explains the status; for `ok` a warning, or empty.
    #[serde(default)]
    pub reason: String,
    /// Training rows, where known.
    #[serde(default)]
    pub n: Option<usize>,
    /// Inputs, where known.
    #[serde(default)]
    pub d: Option<usize>,
    /// Final metrics.
    #[serde(default)]
    pub metrics: Metrics,
    /// Named numbers from the solver's own report.
    #[serde(default)]
    pub solver_values: BTreeMap<String, f64>,
    /// Points along the solve.
    #[serde(default)]
    pub trace: Vec<TracePoint>,
    /// Results of the task other than metrics and the trace.
    pub output: TaskOutput,
    /// What the columns of the user's own file were scaled by; absent for other data sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<Box<FileUnits>>,
    /// Predictions on the test rows, where they are kept: see [`crate::Dataset::keeps_predictions`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictions: Option<Box<Predictions>>,
    /// Last lines of the log, for cases that failed.
    #[serde(default)]
    pub log_tail: String,
    /// False if a time limit decided where the solver stopped.
    #[serde(default = "yes")]
    pub reproducible: bool,
    /// Whether requested metrics of the exact process could not be computed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lacks_exact: bool,
    /// Files that the plugin has used although they are not among its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unplanned_parts: Vec<String>,
    /// The run in which the case ran, `<name>/<folder>`, if this run re-uses its row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reused_from: Option<String>,
    /// The digest of the case's environment, from [`crate::Environment::kind`]; absent in rows of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The node on which the case ran, in a run on a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<NodePlace>,
    /// UTC time at which the case ended.
    pub finished: String,
}

impl Row {
    /// Whether a later run may re-use this row: neither a time limit nor a failure decided how the case ended, all
    /// requested metrics are present, and the plugin used nothing that its identity does not cover.
    pub fn is_reusable(&self) -> bool {
        let ended = matches!(self.status, CaseStatus::Ok | CaseStatus::NotConverged | CaseStatus::Diverged);
        ended && self.reproducible && !self.lacks_exact && self.unplanned_parts.is_empty()
    }

    /// The hyperparameters of the result, in the units of the user's own file: those that were learned, or, by a task that learns
    /// none, those that were given. `None` where the units are not known, or nothing was learned.
    pub fn hyperparameters_in_units(&self) -> Option<Hyperparameters> {
        let kernel = &self.case.kernel;
        let named = match &self.output {
            TaskOutput::Train(_) | TaskOutput::Learn(_) => self.output.learned()?.clone(),
            _ => kernel.hyperparameters(),
        };
        Some(self.units.as_ref()?.hyperparameters(kernel, &named))
    }

    /// Whether the predictions are the learner's own, because it gave no model from which to compute them.
    pub fn has_own_predictions(&self) -> bool {
        let has_no_model = self.output.learning().is_some_and(|learning| learning.model.is_none());
        self.status.is_answer() && has_no_model
    }
}

fn yes() -> bool {
    true
}

fn is_false(value: &bool) -> bool {
    !value
}

/// One line of `journal.jsonl`. Readers skip kinds that they do not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JournalEntry {
    /// A case ended.
    Case(Box<Row>),
    /// A kind of a later version.
    #[serde(other)]
    Unknown,
}
