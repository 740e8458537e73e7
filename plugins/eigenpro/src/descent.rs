//! One step on a minibatch of rows, for all right-hand sides.

use gpbench_sdk::minibatch::ResidualEstimate;
use gpbench_sdk::ndarray::{Array2, Axis, ShapeBuilder};
use gpbench_sdk::{Problem, Result};

use crate::EigenPreconditioner;

/// State between two steps. The iterate is the problem's `x`.
#[derive(Debug)]
pub struct EigenDescent<'p> {
    preconditioner: &'p EigenPreconditioner,
    /// Learning rate over batch size.
    rate: f64,
    residual: ResidualEstimate,
    /// A[batch, :] x; b x s.
    product: Array2<f64>,
}

impl<'p> EigenDescent<'p> {
    /// Starts from the iterate in `x`: one product with A, unless the iterate is zero. Steps have batches of
    /// `batch_size` rows.
    ///
    /// # Errors
    /// If A is not square; as a call of the operator.
    pub fn start(
        problem: &mut Problem<'_>,
        preconditioner: &'p EigenPreconditioner,
        batch_size: usize,
        learning_rate: f64,
    ) -> Result<EigenDescent<'p>> {
        let residual = ResidualEstimate::of(problem)?;
        let product = Array2::zeros((batch_size, problem.rhs().ncols()).f());
        Ok(EigenDescent { preconditioner, rate: learning_rate / batch_size as f64, residual, product })
    }

    /// One step: with g = A\[batch, :\] x - b\[batch\], x\[batch\] -= rate g, and x\[S\] += rate times the correction
    /// of g. False, without a change of x, if it is not finite.
    ///
    /// # Errors
    /// As a call of the operator; `x` has then not changed.
    pub fn step(&mut self, problem: &mut Problem<'_>, batch: &[usize]) -> Result<bool> {
        let (operator, workers, b) = (problem.operator(), problem.workers(), problem.rhs());
        operator.apply_rows(batch, &problem.x(), &mut self.product)?;
        let product = &self.product;
        // The negative gradient.
        let descent = Array2::from_shape_fn(product.dim().f(), |(k, j)| b[[batch[k], j]] - product[[k, j]]);
        let correction = self.preconditioner.correction(operator, batch, &descent, workers)?;
        if !descent.iter().chain(&correction).all(|entry| entry.is_finite()) {
            return Ok(false);
        }
        let (rate, rows) = (self.rate, self.preconditioner.rows());
        let mut x = problem.x_mut();
        let columns = x
            .axis_iter_mut(Axis(1))
            .zip(self.residual.columns_mut())
            .zip(product.axis_iter(Axis(1)))
            .zip(b.axis_iter(Axis(1)))
            .zip(descent.axis_iter(Axis(1)))
            .zip(correction.axis_iter(Axis(1)));
        workers.for_each(columns, |(((((mut x, mut residual), product), b), descent), correction)| {
            if residual.renew(batch, &b, &product) {
                batch.iter().zip(descent).for_each(|(&row, change)| x[row] += rate * change);
                rows.iter().zip(correction).for_each(|(&row, change)| x[row] -= rate * change);
            }
        });
        Ok(true)
    }

    /// Computes the residual of the iterate by a product with A.
    ///
    /// # Errors
    /// As a call of the operator.
    pub fn renew(&mut self, problem: &mut Problem<'_>) -> Result<()> {
        self.residual = ResidualEstimate::of(problem)?;
        Ok(())
    }

    /// Estimated norms of the residuals, relative to the right-hand sides; true at the start and after
    /// [`renew`](Self::renew).
    #[must_use]
    pub fn residual_norms(&self) -> Vec<f64> {
        self.residual.norms()
    }

    /// Sums up the squares of the residuals again, which removes the rounding errors of many small updates.
    pub fn sum_up(&mut self) {
        self.residual.sum_up();
    }
}
