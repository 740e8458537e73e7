//! An estimate of the residual from minibatches.

use ndarray::{Array2, ArrayView1, ArrayViewMut1, Axis, ShapeBuilder};

use crate::{Problem, Result};

/// Estimate of b - A x for all right-hand sides: each row is from the last batch that contained it.
///
/// It uses only rows of A x that a step has computed anyway. While the residual falls, the estimate is usually
/// somewhat above the true one, since some of its rows are old.
#[derive(Debug, Clone)]
pub struct ResidualEstimate {
    /// The estimate, n x s.
    residual: Array2<f64>,
    norms: Vec<Norm>,
}

impl ResidualEstimate {
    /// Starts with the residual of the iterate in `x`: one product with A, unless the iterate is zero.
    ///
    /// Where the right-hand side is zero, `x` is set to the solution, zero. Fails if A is not square.
    pub fn of(problem: &mut Problem<'_>) -> Result<ResidualEstimate> {
        let (operator, b) = (problem.operator(), problem.rhs());
        operator.require_square()?;
        let norms: Vec<Norm> = b.axis_iter(Axis(1)).map(Norm::of).collect();
        for (norm, mut x) in norms.iter().zip(problem.x_mut().axis_iter_mut(Axis(1))) {
            if norm.square == 0.0 {
                x.fill(0.0);
            }
        }
        let mut residual = Array2::zeros(b.dim().f());
        if problem.x().iter().any(|&x| x != 0.0) {
            operator.apply(&problem.x(), &mut residual)?;
        }
        residual.zip_mut_with(&b, |r, b| *r = b - *r);
        let mut estimate = ResidualEstimate { residual, norms };
        estimate.sum_up();
        Ok(estimate)
    }

    /// Norms of the estimate, relative to the right-hand sides; one a column.
    #[must_use]
    pub fn norms(&self) -> Vec<f64> {
        self.norms.iter().map(Norm::relative).collect()
    }

    /// Sums up the squares again, which removes the rounding errors of many small updates.
    pub fn sum_up(&mut self) {
        for (norm, residual) in self.norms.iter_mut().zip(self.residual.axis_iter(Axis(1))) {
            norm.square = residual.dot(&residual);
        }
    }

    /// The columns, which may be updated by different threads.
    pub fn columns_mut(&mut self) -> impl Iterator<Item = ColumnEstimate<'_>> {
        let columns = self.residual.axis_iter_mut(Axis(1)).zip(&mut self.norms);
        columns.map(|(residual, norm)| ColumnEstimate { residual, norm })
    }
}

/// One right-hand side's part of a [`ResidualEstimate`].
#[derive(Debug)]
pub struct ColumnEstimate<'e> {
    residual: ArrayViewMut1<'e, f64>,
    norm: &'e mut Norm,
}

impl ColumnEstimate<'_> {
    /// Updates the rows of a batch, given the right-hand side (n) and the product A\[batch, :\] x (b). False if the
    /// residual's norm is then not finite.
    #[must_use]
    pub fn renew(&mut self, batch: &[usize], b: &ArrayView1<'_, f64>, product: &ArrayView1<'_, f64>) -> bool {
        for (&row, product) in batch.iter().zip(product) {
            let fresh = b[row] - product;
            let stale = std::mem::replace(&mut self.residual[row], fresh);
            self.norm.square += fresh * fresh - stale * stale;
        }
        self.norm.square.is_finite()
    }

    /// The estimate, n; each row is from the last batch that contained it.
    #[must_use]
    pub fn residual(&self) -> ArrayView1<'_, f64> {
        self.residual.view()
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
    /// The norm of the residual at x = 0.
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
