//! Results of the conformance suite: output of `gpbench-worker conform`.

use serde::{Deserialize, Serialize};

/// Whether a solver keeps a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleStatus {
    /// The solver keeps the rule.
    Passed,
    /// The solver breaks the rule, or its process died.
    Failed,
    /// The rule does not apply to it.
    Skipped,
}

impl RuleStatus {
    /// The name used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            RuleStatus::Passed => "passed",
            RuleStatus::Failed => "failed",
            RuleStatus::Skipped => "skipped",
        }
    }
}

/// Whether one solver keeps one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleResult {
    /// The solver's id; empty if the library could not be read.
    pub solver: String,
    /// The rule's name.
    pub name: String,
    /// Whether the rule is kept.
    pub status: RuleStatus,
    /// One sentence; empty if the rule is kept.
    pub reason: String,
    /// The rule, as a line.
    pub doc: String,
}
