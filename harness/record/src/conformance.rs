//! Results of the conformance suite: output of `gpbench-worker conform`.

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

words! {
    /// Outcome of the test of a rule.
    pub enum RuleStatus {
        /// The solver keeps the rule.
        Passed = "passed",
        /// The solver breaks the rule, or its process died.
        Failed = "failed",
        /// The rule does not apply to it.
        Skipped = "skipped",
    }
}

/// Result of testing one solver by one rule.
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
    /// The last lines that were logged while a rule was broken.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub log: String,
    /// Digest of a result that must be the same in every process, if the rule has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<u64>,
}
