//! One step of gradient descent on a minibatch of rows, for all right-hand sides.
//!
//! A batch costs b rows of A, but momentum moves all of x at every step. That part is therefore one
//! pass over velocity and iterate, a column at a time; whatever else happens touches b rows only.
//!
//! The published algorithm divides each right-hand side by its norm, solves, and multiplies back. Steps
//! are linear in x and b together, so that changes no iterate: here x stays in the right-hand side's
//! own scale, and only residual norms are relative.

use gpbench_sdk::ndarray::{Array2, ArrayView1, ArrayViewMut1, Axis, ShapeBuilder, Zip};
use gpbench_sdk::{Error, Problem, Result};

/// What is kept from one step to the next. The iterate is the problem's `x` itself.
#[derive(Debug, Clone)]
pub struct Descent {
    learning_rate: f64,
    momentum: f64,
    /// Velocity; n x s.
    velocity: Array2<f64>,
    /// Estimate of b - A x: each row as it was when a batch last met it; n x s.
    residual: Array2<f64>,
    /// A[batch, :] x; b x s.
    product: Array2<f64>,
    norms: Vec<Norm>,
}

impl Descent {
    /// Starts from the iterate that `x` holds: one product with A, unless that is zero. Steps are to
    /// have batches of `batch_size` rows.
    pub fn start(
        problem: &mut Problem<'_>,
        batch_size: usize,
        learning_rate: f64,
        momentum: f64,
    ) -> Result<Descent> {
        let (operator, b) = (problem.operator(), problem.rhs());
        if operator.m() != operator.n() {
            let text = format!("A is {} x {}, not square", operator.n(), operator.m());
            return Err(Error::Unsupported(text));
        }
        let norms: Vec<Norm> = b.axis_iter(Axis(1)).map(Norm::of).collect();
        for (norm, mut x) in norms.iter().zip(problem.x_mut().axis_iter_mut(Axis(1))) {
            if norm.square == 0.0 {
                // The solution, which no warm start comes closer to.
                x.fill(0.0);
            }
        }
        let mut residual = Array2::zeros(b.dim().f());
        if problem.x().iter().any(|&x| x != 0.0) {
            operator.apply(&problem.x(), &mut residual)?;
        }
        residual.zip_mut_with(&b, |r, b| *r = b - *r);
        let velocity = Array2::zeros(b.dim().f());
        let product = Array2::zeros((batch_size, b.ncols()).f());
        let mut descent = Descent { learning_rate, momentum, velocity, residual, product, norms };
        descent.sum_up();
        Ok(descent)
    }

    /// One step, with g = (A\[batch, :\] x - b\[batch\]) / |batch| on the batch's rows and 0 elsewhere:
    /// velocity = momentum velocity - learning_rate g, x += velocity.
    ///
    /// A right-hand side whose gradient is not finite keeps the iterate that it has.
    pub fn step(&mut self, problem: &mut Problem<'_>, batch: &[usize]) -> Result<()> {
        problem.operator().apply_rows(batch, &problem.x(), &mut self.product)?;
        let (workers, b) = (problem.workers(), problem.rhs());
        let mut x = problem.x_mut();
        let columns = x
            .axis_iter_mut(Axis(1))
            .zip(self.velocity.axis_iter_mut(Axis(1)))
            .zip(self.residual.axis_iter_mut(Axis(1)))
            .zip(self.product.axis_iter(Axis(1)))
            .zip(b.axis_iter(Axis(1)))
            .zip(&mut self.norms)
            .map(|(((((x, velocity), residual), product), b), norm)| Column {
                x,
                velocity,
                residual,
                product,
                b,
                norm,
            });
        let (rate, momentum) = (self.learning_rate / batch.len() as f64, self.momentum);
        workers.for_each(columns, |mut column| column.step(batch, rate, momentum));
        Ok(())
    }

    /// Estimated norms of the residuals, relative to the right-hand sides.
    pub fn residual_norms(&self) -> Vec<f64> {
        self.norms.iter().map(Norm::relative).collect()
    }

    /// Sums the residuals' squares up afresh, to be rid of the rounding errors of many small changes.
    pub fn sum_up(&mut self) {
        for (norm, residual) in self.norms.iter_mut().zip(self.residual.axis_iter(Axis(1))) {
            norm.square = residual.dot(&residual);
        }
    }
}

/// Norm of one right-hand side's residual.
#[derive(Debug, Clone, Copy)]
struct Norm {
    /// Sum of the residual's squares.
    square: f64,
    /// The right-hand side's norm, which the residual is relative to; 1 if that is zero.
    scale: f64,
}

impl Norm {
    /// Of the residual at x = 0.
    fn of(b: ArrayView1<'_, f64>) -> Norm {
        let square = b.dot(&b);
        Norm { square, scale: if square > 0.0 { square.sqrt() } else { 1.0 } }
    }

    fn relative(&self) -> f64 {
        // Rounding may leave the sum of changes below zero; not `f64::max`, which loses NaN.
        let square = if self.square < 0.0 { 0.0 } else { self.square };
        square.sqrt() / self.scale
    }
}

/// One right-hand side's part of a step.
struct Column<'c> {
    x: ArrayViewMut1<'c, f64>,
    velocity: ArrayViewMut1<'c, f64>,
    residual: ArrayViewMut1<'c, f64>,
    product: ArrayView1<'c, f64>,
    b: ArrayView1<'c, f64>,
    norm: &'c mut Norm,
}

impl Column<'_> {
    fn step(&mut self, batch: &[usize], rate: f64, momentum: f64) {
        for (&row, product) in batch.iter().zip(&self.product) {
            let fresh = self.b[row] - product;
            let stale = std::mem::replace(&mut self.residual[row], fresh);
            self.norm.square += fresh * fresh - stale * stale;
        }
        if !self.norm.square.is_finite() {
            return;
        }
        Zip::from(&mut self.x).and(&mut self.velocity).for_each(|x, velocity| {
            *velocity *= momentum;
            *x += *velocity;
        });
        for &row in batch {
            // The residual is the negative gradient.
            let pull = rate * self.residual[row];
            self.velocity[row] += pull;
            self.x[row] += pull;
        }
    }
}
