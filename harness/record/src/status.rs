//! Status of cases.

use gpbench_terms::words;

/// A true residual up to this factor over the tolerance counts as within it: the residual that a solver updates
/// drifts from the true one by rounding.
pub const WITHIN: f64 = 1.01;

words! {
    /// Status of a case that has ended.
    pub enum CaseStatus {
        /// The case met the spec's requirements.
        Ok = "ok",
        /// The solver stopped before it reached the tolerance, which is not a failure.
        NotConverged = "not_converged",
        /// The iterates grew without bound, or a number is not finite.
        Diverged = "diverged",
        /// The case was killed at its time limit.
        Timeout = "timeout",
        /// The case was killed at its memory limit, or an allocation failed.
        OutOfMemory = "out_of_memory",
        /// The process died, or the solver panicked.
        Crashed = "crashed",
        /// The solver claims a tolerance that it misses, or returned an unusable answer.
        Invalid = "invalid",
        /// The case was not run, as the user allowed, for instance because its data set is unavailable.
        Skipped = "skipped",
    }
}

impl CaseStatus {
    /// Whether this status makes a run fail (exit code 1).
    pub fn is_failure(self) -> bool {
        !matches!(self, CaseStatus::Ok | CaseStatus::NotConverged | CaseStatus::Skipped)
    }

    /// Whether a report may use the case's numbers.
    pub fn is_answer(self) -> bool {
        matches!(self, CaseStatus::Ok | CaseStatus::NotConverged)
    }
}
