//! Costs of solves and fits.

use gpbench_terms::{Clock, Entries};

/// Iterations, time and kernel entries of one solve, or of several.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

/// Steps, time and work of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FitCost {
    /// Steps that were observed.
    pub steps: u64,
    /// Time of begin.
    pub begin: Clock,
    /// Time of fit.
    pub fit: Clock,
    /// Kernel entries, all of them self-reported.
    pub entries: Entries,
    /// Rows of stream 0, which counts passes.
    pub passed: u64,
    /// Rows of all streams, and rows that were reported in addition.
    pub rows: f64,
    /// Rows that were evaluated by a network.
    pub features: f64,
}

impl FitCost {
    /// Passes over `n` training rows.
    pub fn passes(&self, n: usize) -> f64 {
        self.passed as f64 / n as f64
    }

    /// Wall-clock seconds.
    pub fn seconds(&self) -> f64 {
        self.begin.wall + self.fit.wall
    }
}
