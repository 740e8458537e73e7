//! How cases end, and why solvers stop.

use serde::{Deserialize, Serialize};

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It reached what the spec asks for.
    Ok,
    /// It stopped short of the tolerance; not a failure.
    NotConverged,
    /// The iterates grew without bound, or a number is not finite.
    Diverged,
    /// It was killed for time.
    Timeout,
    /// It was killed for memory, or an allocation failed.
    OutOfMemory,
    /// Its process died, or the solver panicked.
    Crashed,
    /// It claims a tolerance that it misses, or returned an unusable answer.
    Invalid,
    /// It was not run, as the user allowed, for instance because its data set is unavailable.
    Skipped,
}

impl Status {
    /// Every status.
    pub const ALL: [Status; 8] = [
        Status::Ok,
        Status::NotConverged,
        Status::Diverged,
        Status::Timeout,
        Status::OutOfMemory,
        Status::Crashed,
        Status::Invalid,
        Status::Skipped,
    ];

    /// Whether this status makes a run fail (exit code 1).
    pub fn is_failure(self) -> bool {
        !matches!(self, Status::Ok | Status::NotConverged | Status::Skipped)
    }

    /// Whether a report may use the case's numbers.
    pub fn is_answer(self) -> bool {
        matches!(self, Status::Ok | Status::NotConverged)
    }

    /// The name used in journals and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::NotConverged => "not_converged",
            Status::Diverged => "diverged",
            Status::Timeout => "timeout",
            Status::OutOfMemory => "out_of_memory",
            Status::Crashed => "crashed",
            Status::Invalid => "invalid",
            Status::Skipped => "skipped",
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a solver stopped. Stopping short is data, not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The solver says that the tolerance is reached, or that it is exact.
    Converged,
    /// The epoch budget is spent.
    Epochs,
    /// The time budget is spent.
    Time,
    /// The solver's own iteration limit is reached.
    Iterations,
    /// The residual no longer falls.
    Stagnated,
    /// A number overflowed or the residual grows without bound.
    Diverged,
    /// The quality is reached at which the case was to end.
    Target,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_listed_once() {
        // Another variant does not compile here, so that it is not missing in the list.
        let place = |status| match status {
            Status::Ok => 0,
            Status::NotConverged => 1,
            Status::Diverged => 2,
            Status::Timeout => 3,
            Status::OutOfMemory => 4,
            Status::Crashed => 5,
            Status::Invalid => 6,
            Status::Skipped => 7,
        };
        assert_eq!(Status::ALL.map(place), [0, 1, 2, 3, 4, 5, 6, 7]);
        for status in Status::ALL {
            assert_eq!(serde_json::to_string(&status).unwrap(), format!("\"{status}\""));
        }
    }
}
