//! Systems that rules ask solvers to solve.

use gpbench_host::{LinearSystem, SolveLimits};
use ndarray::Array2;

use super::super::KernelSystem;

/// Serves the systems of requests.
pub trait MakeSystem {
    /// The system of a request, with inputs. Its right-hand sides have [`margin`](SolveRequest::margin) rows of other
    /// memory between their columns.
    fn make(&self, request: &SolveRequest) -> Box<dyn LinearSystem + '_>;
}

/// A system that a rule asks a solver to solve, with its limits. The first column is the target, the others are
/// probes.
#[derive(Debug, Clone)]
pub struct SolveRequest {
    /// The matrix, n x n.
    pub system: KernelSystem,
    /// Right-hand sides, n x s.
    pub rhs: Array2<f64>,
    /// The start, n x s.
    pub start: Array2<f64>,
    /// Relative residual norm to reach; `None` if only the budget ends the solve.
    pub tolerance: Option<f64>,
    /// Epochs that may be spent.
    pub max_epochs: f64,
    /// Threads that the solver may use.
    pub threads: usize,
    /// Seed of the solver's own random numbers.
    pub seed: u64,
    /// Rows and columns of the host's memory on each side of the iterate, and rows between the columns of
    /// the right-hand sides.
    pub margin: usize,
    /// Number of the observation, from 0, at which the solver is told to stop.
    pub stop_at: Option<usize>,
    /// Observations at which the solver is asked for its iterate.
    pub ask: Ask,
}

/// Observations at which the solver is asked for its iterate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// At no observation.
    Never,
    /// At the observation of this number, from 0.
    At(usize),
    /// At every observation.
    Always,
}

impl SolveRequest {
    /// Limits of the solve.
    pub(super) fn limits(&self) -> SolveLimits {
        SolveLimits {
            tolerance: self.tolerance,
            max_epochs: Some(self.max_epochs),
            seconds: None,
            threads: self.threads,
            seed: self.seed,
        }
    }
}
