//! What solves take.

use gpbench_record::{Clock, Entries};

/// Iterations, time and kernel entries of one solve, or of several.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolveCost {
    /// Iterations, as the solver counts them.
    pub iterations: u64,
    /// Time of prepare.
    pub prepare: Clock,
    /// Time of solve.
    pub solve: Clock,
    /// Kernel entries of both.
    pub entries: Entries,
}

impl SolveCost {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: SolveCost) -> SolveCost {
        SolveCost {
            iterations: self.iterations + other.iterations,
            prepare: self.prepare.plus(other.prepare),
            solve: self.solve.plus(other.solve),
            entries: self.entries.plus(other.entries),
        }
    }

    /// Epochs used on a system of `n` training rows.
    pub fn epochs(&self, n: usize) -> f64 {
        self.entries.used / (n as f64).powi(2)
    }

    /// Wall-clock seconds.
    pub fn seconds(&self) -> f64 {
        self.prepare.wall + self.solve.wall
    }
}
