//! How cases end.

use gpbench_terms::words;

words! {
    /// How a case ended.
    pub enum CaseStatus {
        /// It reached what the spec asks for.
        Ok = "ok",
        /// It stopped short of the tolerance; not a failure.
        NotConverged = "not_converged",
        /// The iterates grew without bound, or a number is not finite.
        Diverged = "diverged",
        /// It was killed for time.
        Timeout = "timeout",
        /// It was killed for memory, or an allocation failed.
        OutOfMemory = "out_of_memory",
        /// Its process died, or the solver panicked.
        Crashed = "crashed",
        /// It claims a tolerance that it misses, or returned an unusable answer.
        Invalid = "invalid",
        /// It was not run, as the user allowed, for instance because its data set is unavailable.
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
