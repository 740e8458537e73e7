//! The parts of a run's plan beside its cases.

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
    /// The target whose time is reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
}
