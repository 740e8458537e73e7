//! The parts of a run's plan beside its cases.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Target;

/// The names on each axis of a spec, in the order in which its author wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Axes {
    /// Data sets.
    pub dataset: Vec<String>,
    /// Kernels.
    pub kernel: Vec<String>,
    /// Estimators; empty for a task that has none.
    pub estimator: Vec<String>,
    /// Solvers.
    pub solver: Vec<String>,
}

/// Options of a report, from the spec.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportOptions {
    /// Name of the published results to show beside ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Name on the solver axis that speed-ups are measured against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Metrics of the results table, in this order; if empty, the default ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Archived results to show beside ours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compare: Vec<NamedArchive>,
    /// The target whose time is reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
}

/// Archived results that a spec names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedArchive {
    /// A packed run, a run folder or a folder of packed runs; absolute.
    #[serde(with = "crate::path")]
    pub path: PathBuf,
    /// Where it is named, as messages write it: `FILE:LINE:COLUMN`.
    pub at: String,
}
