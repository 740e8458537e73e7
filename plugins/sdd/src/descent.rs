//! One step of stochastic dual descent, for all right-hand sides.
//!
//! Lin et al. 2024 (ICLR), Algorithm 1, with alpha = A^-1 b the minimum and g the gradient on a batch of rows:
//!
//! ```text
//! g[batch] = (n / |batch|) (A[batch, :] (alpha + momentum v) - b[batch]),  0 elsewhere
//! v        = momentum v - beta g
//! alpha   += v
//! abar     = r alpha + (1 - r) abar
//! ```
//!
//! A step is one pass over three arrays, for two reasons. The point where the gradient is taken is stored instead
//! of alpha: it is alpha + momentum v (or alpha, for the heavy ball). And outside of the batch's rows a step is
//! momentum alone, so all rows are updated by momentum and then the batch's rows are corrected.

use gpbench_sdk::minibatch::{ColumnEstimate, ResidualEstimate};
use gpbench_sdk::ndarray::{Array2, ArrayView1, ArrayViewMut1, Axis, ShapeBuilder, Zip};
use gpbench_sdk::{Problem, Result};

use crate::GradientPoint;

/// Constants of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepRule {
    /// beta n.
    pub learning_rate: f64,
    /// Share of the velocity that is kept.
    pub momentum: f64,
    /// Weight r of the newest iterate in the average.
    pub averaging: f64,
    /// Point at which the gradient is taken.
    pub gradient: GradientPoint,
}

/// A start, which several trials may use.
#[derive(Debug, Clone)]
pub struct DescentStart {
    /// The iterate, n x s; none if it is zero.
    x: Option<Array2<f64>>,
    residual: ResidualEstimate,
}

impl DescentStart {
    /// Starts from the iterate in `x`: one product with A, unless the iterate is zero.
    pub fn of(problem: &mut Problem<'_>) -> Result<DescentStart> {
        let residual = ResidualEstimate::of(problem)?;
        let warm = problem.x().iter().any(|&x| x != 0.0);
        Ok(DescentStart { x: warm.then(|| columnwise(problem)), residual })
    }

    /// Whether a product with A was needed.
    #[must_use]
    pub fn is_warm(&self) -> bool {
        self.x.is_some()
    }
}

/// A copy of `x`, column-major.
fn columnwise(problem: &Problem<'_>) -> Array2<f64> {
    let mut copy = Array2::zeros(problem.x().dim().f());
    copy.assign(&problem.x());
    copy
}

/// State between two steps. The average is the problem's `x`.
#[derive(Debug, Clone)]
pub struct DualDescent {
    rule: StepRule,
    /// Points at which the next gradients are taken; n x s.
    point: Array2<f64>,
    /// Velocity v; n x s.
    velocity: Array2<f64>,
    /// Estimated residual at the points, not at the average.
    residual: ResidualEstimate,
    /// A[batch, :] point; b x s.
    product: Array2<f64>,
}

impl DualDescent {
    /// Puts the start into `x`, with zero velocity. Steps have batches of `batch_size` rows.
    pub fn new(
        problem: &mut Problem<'_>,
        start: &DescentStart,
        batch_size: usize,
        rule: StepRule,
    ) -> DualDescent {
        let mut x = problem.x_mut();
        match &start.x {
            Some(start) => x.assign(start),
            None => x.fill(0.0),
        }
        let (n, s) = x.dim();
        DualDescent {
            rule,
            point: columnwise(problem),
            velocity: Array2::zeros((n, s).f()),
            residual: start.residual.clone(),
            product: Array2::zeros((batch_size, s).f()),
        }
    }

    /// One step on a batch of rows.
    ///
    /// The average of a right-hand side whose gradient is not finite does not change.
    pub fn step(&mut self, problem: &mut Problem<'_>, batch: &[usize]) -> Result<()> {
        problem.operator().apply_rows(batch, &self.point, &mut self.product)?;
        let (workers, b) = (problem.workers(), problem.rhs());
        let mut x = problem.x_mut();
        let columns = x
            .axis_iter_mut(Axis(1))
            .zip(self.point.axis_iter_mut(Axis(1)))
            .zip(self.velocity.axis_iter_mut(Axis(1)))
            .zip(self.residual.columns_mut())
            .zip(self.product.axis_iter(Axis(1)))
            .zip(b.axis_iter(Axis(1)))
            .map(|(((((average, point), velocity), residual), product), b)| Column {
                average,
                point,
                velocity,
                residual,
                product,
                b,
            });
        let rule = self.rule;
        workers.for_each(columns, |mut column| column.step(batch, rule));
        Ok(())
    }

    /// Estimated norms of the residuals at the points where gradients are taken, relative to the
    /// right-hand sides.
    #[must_use]
    pub fn residual_norms(&self) -> Vec<f64> {
        self.residual.norms()
    }

    /// Sums up the squares of the residuals again, which removes the rounding errors of many small updates.
    pub fn sum_up(&mut self) {
        self.residual.sum_up();
    }
}

/// Norms of the true residuals of what `x` holds, relative to the right-hand sides; costs an epoch.
pub(crate) fn true_norms(problem: &Problem<'_>) -> Result<Vec<f64>> {
    let b = problem.rhs();
    let mut residual = Array2::zeros(b.dim().f());
    problem.operator().apply(&problem.x(), &mut residual)?;
    residual.zip_mut_with(&b, |r, b| *r = b - *r);
    let norm = |column: ArrayView1<'_, f64>| column.dot(&column).sqrt();
    let columns = residual.axis_iter(Axis(1)).zip(b.axis_iter(Axis(1)));
    Ok(columns
        .map(|(residual, b)| match norm(b) {
            0.0 => norm(residual),
            scale => norm(residual) / scale,
        })
        .collect())
}

/// One right-hand side's part of a step.
struct Column<'c> {
    average: ArrayViewMut1<'c, f64>,
    point: ArrayViewMut1<'c, f64>,
    velocity: ArrayViewMut1<'c, f64>,
    residual: ColumnEstimate<'c>,
    product: ArrayView1<'c, f64>,
    b: ArrayView1<'c, f64>,
}

impl Column<'_> {
    fn step(&mut self, batch: &[usize], rule: StepRule) {
        if !self.residual.renew(batch, &self.b, &self.product) {
            return;
        }
        let StepRule { momentum, averaging: r, .. } = rule;
        // First as if the gradient were zero everywhere, where the old point, alpha + momentum v, is the new alpha.
        let arrays = Zip::from(&mut self.average).and(&mut self.point).and(&mut self.velocity);
        match rule.gradient {
            GradientPoint::Lookahead => arrays.for_each(|average, point, velocity| {
                *average = r * *point + (1.0 - r) * *average;
                *velocity *= momentum;
                *point += momentum * *velocity;
            }),
            GradientPoint::HeavyBall => arrays.for_each(|average, point, velocity| {
                *velocity *= momentum;
                *point += *velocity;
                *average = r * *point + (1.0 - r) * *average;
            }),
        }
        // beta n / |batch|; the residual is the negative gradient.
        let rate = rule.learning_rate / batch.len() as f64;
        let residual = self.residual.residual();
        let ahead = match rule.gradient {
            GradientPoint::Lookahead => 1.0 + momentum,
            GradientPoint::HeavyBall => 1.0,
        };
        for &row in batch {
            let change = rate * residual[row];
            self.velocity[row] += change;
            self.point[row] += ahead * change;
            self.average[row] += r * change;
        }
    }
}
