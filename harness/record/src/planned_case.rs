//! A case of a plan, with everything that its id depends on.

use serde::{Deserialize, Serialize};

use crate::{Case, Fingerprint, Labels, case_digest};

/// A case of a plan, as `plan.json` stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCase {
    /// The case's id.
    pub id: String,
    /// Names on the spec's axes.
    pub labels: Labels,
    /// The resolved case.
    pub case: Case,
    /// Everything else that the result depends on. Its number of threads is that of the case.
    pub fingerprint: Fingerprint,
    /// Training rows, where known.
    #[serde(default)]
    pub n: Option<usize>,
    /// The reason for skipping the case, which then gets a `skipped` row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
    /// The digest of its plan, made by [`crate::plan_digest`], where runs of different plans were merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The case's digest in other runs of its plan, where a merged run gave it other names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl PlannedCase {
    /// A case of a plan that is not merged, with its id and names.
    pub fn new(case: Case, fingerprint: Fingerprint, n: Option<usize>, skip: Option<String>) -> Self {
        let (id, labels) = (case.id(&fingerprint), case.labels());
        Self { id, labels, case, fingerprint, n, skip, plan: None, digest: None }
    }

    /// The digest that identifies the case on every computer, made by [`case_digest`]: 16 hexadecimal digits.
    pub fn digest(&self) -> String {
        self.digest.clone().unwrap_or_else(|| case_digest(&self.case))
    }
}
