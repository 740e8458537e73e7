//! The evidence that a case is judged by, and the verdict.

use gpbench_record::{Case, CaseStatus, Metrics, Solved, Step};

/// The evidence of a case that was solved and verified.
#[derive(Clone, Copy)]
pub(crate) struct Answer<'a> {
    /// The case.
    pub(crate) case: &'a Case,
    /// What the solver reported.
    pub(crate) solved: &'a Solved,
    /// The outer steps.
    pub(crate) steps: &'a [&'a Step],
    /// The verified metrics. A number that is not finite is absent.
    pub(crate) metrics: &'a Metrics,
}

/// The status of a case, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The status of its row.
    pub status: CaseStatus,
    /// One sentence; empty where `ok` needs none.
    pub reason: String,
    /// False if a clock decided where the solver stopped.
    pub reproducible: bool,
}

impl Verdict {
    /// The status of a case that no clock has stopped.
    pub(crate) fn new(status: CaseStatus, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into(), reproducible: true }
    }

    /// Adds a remark to the reason.
    pub(crate) fn add(&mut self, remark: &str) {
        let separator = if self.reason.is_empty() { "" } else { "; " };
        self.reason = format!("{}{separator}{remark}", self.reason);
    }

    /// `ok`, without a reason.
    pub(crate) fn ok() -> Self {
        Self::new(CaseStatus::Ok, "")
    }
}
