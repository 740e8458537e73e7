//! The decision when an iteration ends, from its residuals.

use crate::{Problem, Reason};

/// Relative residual that counts as divergence. Residuals of Krylov methods and projections may grow at first, by up
/// to the square root of A's condition number.
const DIVERGENCE: f64 = 1e10;

/// Decides from residuals when an iteration ends.
///
/// ```
/// # use gpbench_sdk::{Problem, Reason, Result, Watch};
/// # fn norms() -> Vec<f64> { vec![] }
/// # fn iterate() {}
/// # fn run(problem: &mut Problem<'_>) -> Result<Reason> {
/// let mut watch = Watch::new(1000, 0);
/// let mut iteration = 0;
/// loop {
///     let norms = norms();
///     problem.observe(iteration, &norms)?;
///     if let Some(reason) = watch.judge(problem, iteration, &norms) {
///         return Ok(reason);
///     }
///     iterate();
///     iteration += 1;
/// }
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Watch {
    patience: usize,
    max_iterations: usize,
    best: f64,
    best_at: usize,
}

impl Watch {
    /// Gives up after `patience` iterations without a new best residual, and ends after `max_iterations`, those of
    /// earlier corrections in mixed precision included; 0: no limit.
    #[must_use]
    pub fn new(patience: usize, max_iterations: usize) -> Watch {
        Watch { patience, max_iterations, best: f64::INFINITY, best_at: 0 }
    }

    /// Reason to end after `iteration` iterations, if there is one.
    ///
    /// `norms` are the residual norms, each relative to its right-hand side. In this order: they have converged;
    /// the worst of them, by the problem's rule, is NaN or has diverged; it has not fallen below its best for too
    /// long; the limit of iterations is reached.
    pub fn judge(&mut self, problem: &Problem<'_>, iteration: usize, norms: &[f64]) -> Option<Reason> {
        let worst = problem.worst(norms);
        if worst < self.best {
            (self.best, self.best_at) = (worst, iteration);
        }
        if problem.converged(norms) || worst == 0.0 {
            Some(Reason::Converged)
        } else if worst.is_nan() || worst > DIVERGENCE {
            Some(Reason::Diverged)
        } else if iteration - self.best_at >= self.patience {
            Some(Reason::Stagnated)
        } else if self.max_iterations > 0 && problem.earlier_iterations() + iteration >= self.max_iterations {
            Some(Reason::Iterations)
        } else {
            None
        }
    }
}
