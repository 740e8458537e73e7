//! Iterations of block conjugate gradients.

use ndarray::Array2;

use super::space::Space;
use crate::precondition::Precondition;
use crate::{Error, Problem, Reason, Report, Result, Watch};

/// Least number of iterations without a new best residual that counts as stagnation; n if that is more, since n
/// iterations suffice in exact arithmetic.
const PATIENCE: usize = 1000;

/// Share of the residual that may lie outside of the space before the space is built again.
const MISSING: f64 = 0.1;

/// The state between two iterations. The iterate is the problem's `x`.
#[derive(Debug)]
pub struct BlockIteration {
    /// Iterations done.
    count: usize,
    /// Number of times that the space was built from the residual.
    starts: usize,
    /// Columns of the space in the last iteration.
    width: usize,
    /// Norms of the right-hand sides.
    scales: Vec<f64>,
    /// Residual, relative to the right-hand side's norm; n x s.
    r: Array2<f64>,
    /// Norms of the residual.
    norms: Vec<f64>,
    /// The space of the last iteration; none where it is to be built from the residual.
    space: Option<Space>,
}

impl BlockIteration {
    /// Computes the residual of the iterate in `x`: one product with A, unless the iterate is zero.
    ///
    /// # Errors
    /// If A is not square, or the product fails.
    pub fn start(problem: &mut Problem<'_>) -> Result<BlockIteration> {
        problem.operator().require_square()?;
        let (r, scales) = problem.relative_residual()?;
        let norms = r.columns().into_iter().map(|column| column.dot(&column).sqrt()).collect();
        Ok(BlockIteration { count: 0, starts: 0, width: 0, scales, r, norms, space: None })
    }

    /// The [`Watch`] that decides when to end; `max_iterations` as in [`Watch::new`].
    pub fn watch(problem: &Problem<'_>, max_iterations: usize) -> Watch {
        Watch::new(PATIENCE.max(problem.rhs().nrows()), max_iterations)
    }

    /// Reports the iterate to the host, and returns the reason to end, if there is one.
    ///
    /// # Errors
    /// As [`Problem::observe`].
    pub fn judge(&self, problem: &mut Problem<'_>, watch: &mut Watch) -> Result<Option<Reason>> {
        problem.observe(self.count, &self.norms)?;
        Ok(watch.judge(problem, self.count, &self.norms))
    }

    /// Lets the next iteration build the space from the residual: the preconditioner has changed.
    pub fn restart(&mut self) {
        self.space = None;
    }

    /// One iteration, with one product with A. False, without a change, if there is no step: the residual is zero in the
    /// preconditioner's norm, or A is not positive definite.
    ///
    /// # Errors
    /// If the product or memory fails.
    pub fn step(
        &mut self,
        problem: &mut Problem<'_>,
        preconditioner: Option<&dyn Precondition>,
    ) -> Result<bool> {
        let workers = problem.workers();
        let continued = self.continued(problem, preconditioner)?;
        let fresh = continued.is_none();
        let space = match continued {
            Some(space) => Some(space),
            None => Space::start(&self.r, preconditioner, workers)?,
        };
        self.starts += usize::from(fresh);
        let Some(mut space) = space else { return Ok(false) };
        let step = match space.step(problem) {
            // Rounding errors may be the cause: try again with new directions.
            Err(Error::NotPositiveDefinite { .. }) if !fresh => return self.step(problem, preconditioner),
            Err(Error::NotPositiveDefinite { .. }) => return Ok(false),
            step => step?,
        };
        let squares = space.advance(&step, &mut problem.x_mut(), &self.scales, &mut self.r, workers);
        self.norms = squares.into_iter().map(f64::sqrt).collect();
        self.width = space.width();
        self.count += 1;
        self.space = Some(space);
        Ok(true)
    }

    /// The space of the last iteration with new directions. None, where too much of the residual lies outside of it.
    /// Done before an iteration rather than after one, since the last needs no more directions.
    fn continued(
        &mut self,
        problem: &Problem<'_>,
        preconditioner: Option<&dyn Precondition>,
    ) -> Result<Option<Space>> {
        let Some(space) = self.space.take() else { return Ok(None) };
        let updated = space.update_directions(&self.r, preconditioner, problem.workers())?;
        Ok(updated.and_then(|(space, lost)| {
            let lost: Vec<f64> = lost.into_iter().map(f64::sqrt).collect();
            let whole = problem.worst(&lost) <= MISSING * problem.worst(&self.norms);
            Some(space).filter(|_| whole)
        }))
    }

    /// The report of a solve, with the numbers `restarts` and `block_width`.
    pub fn report(self, reason: Reason) -> Report {
        let report = Report::new(reason, self.count).residuals(self.norms);
        let restarts = self.starts.saturating_sub(1) as f64;
        report.number("restarts", restarts).number("block_width", self.width as f64)
    }
}
