//! Sizes of problems to come.

use crate::Covariance;

/// Sizes of problems to come, for which a solver or learner gets ready before it sees any data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The kernel, without factors of rows and columns; `None` where it is unknown.
    pub covariance: Option<Covariance>,
    /// Rows.
    pub n: usize,
    /// Unknowns: n, or the number of inducing points.
    pub m: usize,
    /// Inputs.
    pub d: usize,
    /// Right-hand sides of a linear system; outputs of a learner's targets.
    pub s: usize,
    /// Threads that may be used.
    pub threads: usize,
    /// Rows of a minibatch, where known.
    pub batch: Option<usize>,
}
