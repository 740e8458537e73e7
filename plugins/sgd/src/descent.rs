//! One step of gradient descent on a minibatch of rows, for all right-hand sides.
//!
//! A step uses b rows of A, but momentum changes all of x. That part is one pass over velocity and iterate, a column
//! at a time; the rest of a step touches b rows only.
//!
//! The published algorithm divides each right-hand side by its norm, solves, and multiplies the solution by the
//! norm. Steps are linear in x and b together, so that this changes no iterate: here x is not scaled, and only
//! residual norms are relative.

use gpbench_sdk::minibatch::{ColumnEstimate, ResidualEstimate};
use gpbench_sdk::ndarray::{Array2, ArrayView1, ArrayViewMut1, Axis, ShapeBuilder, Zip};
use gpbench_sdk::{Problem, Result};

/// State between two steps. The iterate is the problem's `x`.
#[derive(Debug, Clone)]
pub struct MomentumDescent {
    learning_rate: f64,
    momentum: f64,
    /// Velocity; n x s.
    velocity: Array2<f64>,
    residual: ResidualEstimate,
    /// A[batch, :] x; b x s.
    product: Array2<f64>,
}

impl MomentumDescent {
    /// Starts from the iterate in `x`: one product with A, unless the iterate is zero. Steps have batches of
    /// `batch_size` rows.
    pub fn start(
        problem: &mut Problem<'_>,
        batch_size: usize,
        learning_rate: f64,
        momentum: f64,
    ) -> Result<MomentumDescent> {
        let residual = ResidualEstimate::of(problem)?;
        let (n, s) = problem.rhs().dim();
        let velocity = Array2::zeros((n, s).f());
        let product = Array2::zeros((batch_size, s).f());
        Ok(MomentumDescent { learning_rate, momentum, velocity, residual, product })
    }

    /// Takes further steps at another learning rate.
    pub fn set_learning_rate(&mut self, learning_rate: f64) {
        self.learning_rate = learning_rate;
    }

    /// One step, with g = (A\[batch, :\] x - b\[batch\]) / |batch| on the batch's rows and 0 elsewhere:
    /// velocity = momentum velocity - learning_rate g, x += velocity.
    ///
    /// The iterate of a right-hand side whose gradient is not finite does not change.
    pub fn step(&mut self, problem: &mut Problem<'_>, batch: &[usize]) -> Result<()> {
        problem.operator().apply_rows(batch, &problem.x(), &mut self.product)?;
        let (workers, b) = (problem.workers(), problem.rhs());
        let mut x = problem.x_mut();
        let columns = x
            .axis_iter_mut(Axis(1))
            .zip(self.velocity.axis_iter_mut(Axis(1)))
            .zip(self.residual.columns_mut())
            .zip(self.product.axis_iter(Axis(1)))
            .zip(b.axis_iter(Axis(1)))
            .map(|((((x, velocity), residual), product), b)| Column { x, velocity, residual, product, b });
        let (rate, momentum) = (self.learning_rate / batch.len() as f64, self.momentum);
        workers.for_each(columns, |mut column| column.step(batch, rate, momentum));
        Ok(())
    }

    /// Estimated norms of the residuals, relative to the right-hand sides.
    pub fn residual_norms(&self) -> Vec<f64> {
        self.residual.norms()
    }

    /// Sums up the squares of the residuals again, which removes the rounding errors of many small updates.
    pub fn sum_up(&mut self) {
        self.residual.sum_up();
    }
}

/// One right-hand side's part of a step.
struct Column<'c> {
    x: ArrayViewMut1<'c, f64>,
    velocity: ArrayViewMut1<'c, f64>,
    residual: ColumnEstimate<'c>,
    product: ArrayView1<'c, f64>,
    b: ArrayView1<'c, f64>,
}

impl Column<'_> {
    fn step(&mut self, batch: &[usize], rate: f64, momentum: f64) {
        if !self.residual.renew(batch, &self.b, &self.product) {
            return;
        }
        Zip::from(&mut self.x).and(&mut self.velocity).for_each(|x, velocity| {
            *velocity *= momentum;
            *x += *velocity;
        });
        let residual = self.residual.residual();
        for &row in batch {
            // The residual is the negative gradient.
            let change = rate * residual[row];
            self.velocity[row] += change;
            self.x[row] += change;
        }
    }
}
