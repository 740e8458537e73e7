//! The iterates, in residual form.
//!
//! With D = eta P^-1 (B - A Z)\[S\] on the block S, a step of ASkotch is
//!
//! ```text
//! W = Z,                       then W[S] += D
//! V = beta V + (1 - beta) Z,   then V[S] += gamma D
//! Z = alpha V + (1 - alpha) W
//! ```
//!
//! The published form computes A\[S, :\] Z for the gradient, so that no residual is ever known. Here the residuals
//! of all three sequences are kept: the gradient is a part of Z's, and A\[:, S\] D, which has as many entries, updates
//! them. The iterates are the same up to rounding, and the residual of W is known at every step.
//!
//! All is relative to the norms of the right-hand sides, except for W, which is the problem's `x`.

use gpbench_sdk::ndarray::{Array2, ArrayView1, ArrayViewMut1, Axis, ShapeBuilder, Zip};
use gpbench_sdk::{Problem, Result, Workers};

use crate::Nesterov;

/// The sequences W, V and Z, or W alone without momentum. W is the problem's `x`.
#[derive(Debug, Clone)]
pub struct Iterates {
    /// Norms of the right-hand sides.
    scales: Vec<f64>,
    /// Norms of W's residual.
    norms: Vec<f64>,
    /// W's residual, n x s; during a step with momentum, its change.
    residual: Array2<f64>,
    ahead: Option<Ahead>,
}

/// The sequences of the momentum, n x s each.
#[derive(Debug, Clone)]
struct Ahead {
    nesterov: Nesterov,
    v: Array2<f64>,
    z: Array2<f64>,
    residual_v: Array2<f64>,
    residual_z: Array2<f64>,
}

impl Iterates {
    /// Starts all sequences at the iterate in `x`: one product with A, unless the iterate is zero.
    ///
    /// Where the right-hand side is zero, `x` is set to the solution, zero.
    pub fn start(problem: &mut Problem<'_>, nesterov: Option<Nesterov>) -> Result<Iterates> {
        let (residual, scales) = problem.relative_residual()?;
        let ahead = nesterov.map(|nesterov| {
            let mut z = Array2::zeros(residual.dim().f());
            z.assign(&problem.x());
            // The others are zero.
            for (mut z, &scale) in z.columns_mut().into_iter().zip(&scales).filter(|(_, scale)| **scale > 0.0)
            {
                z /= scale;
            }
            Ahead { nesterov, v: z.clone(), z, residual_v: residual.clone(), residual_z: residual.clone() }
        });
        let norms = vec![0.0; scales.len()];
        let mut iterates = Iterates { scales, norms, residual, ahead };
        iterates.measure(problem.workers());
        Ok(iterates)
    }

    /// Computes the residual of W by a product with A, and starts the momentum anew from there.
    pub fn renew(&mut self, problem: &mut Problem<'_>) -> Result<()> {
        // Frees its memory first.
        let nesterov = self.ahead.take().map(|ahead| ahead.nesterov);
        *self = Iterates::start(problem, nesterov)?;
        Ok(())
    }

    /// Norms of W's residual, relative to the right-hand sides'; one a column.
    #[must_use]
    pub fn norms(&self) -> &[f64] {
        &self.norms
    }

    /// These rows of the residual from which the next step is computed, b x s: Z's, or W's without momentum.
    #[must_use]
    pub fn gradient(&self, rows: &[usize]) -> Array2<f64> {
        let residual = self.ahead.as_ref().map_or(&self.residual, |ahead| &ahead.residual_z);
        Array2::from_shape_fn((rows.len(), residual.ncols()).f(), |(k, j)| residual[[rows[k], j]])
    }

    /// One step with D = `change`, b x s and column-major. Counts n b entries. If they are refused, iterates and norms stay
    /// as they are, and no further step is possible.
    pub fn step(&mut self, problem: &mut Problem<'_>, rows: &[usize], change: &Array2<f64>) -> Result<()> {
        let workers = problem.workers();
        if self.ahead.is_some() {
            self.residual.fill(0.0);
        }
        // Negative, since `update_columns` adds. Before x is changed, since the call may be refused.
        problem.operator().update_columns(rows, &-change, &mut self.residual)?;
        let mut x = problem.x_mut();
        let columns = x.axis_iter_mut(Axis(1)).zip(change.axis_iter(Axis(1))).zip(&self.scales);
        match &mut self.ahead {
            None => workers.for_each(columns, |((mut x, change), scale)| {
                rows.iter().zip(change).for_each(|(&row, change)| x[row] += scale * change);
            }),
            Some(ahead) => {
                let Ahead { nesterov, v, z, residual_v, residual_z } = ahead;
                let columns =
                    columns
                        .zip(v.axis_iter_mut(Axis(1)))
                        .zip(z.axis_iter_mut(Axis(1)))
                        .zip(self.residual.axis_iter_mut(Axis(1)))
                        .zip(residual_v.axis_iter_mut(Axis(1)))
                        .zip(residual_z.axis_iter_mut(Axis(1)))
                        .map(|(((((((x, change), &scale), v), z), residual), residual_v), residual_z)| {
                            Column { scale, x, v, z, change, residual, residual_v, residual_z }
                        });
                workers.for_each(columns, |mut column| column.step(*nesterov, rows));
            }
        }
        self.measure(workers);
        Ok(())
    }

    /// Computes the norms of W's residual.
    fn measure(&mut self, workers: Workers<'_>) {
        workers.for_each(self.norms.iter_mut().zip(self.residual.axis_iter(Axis(1))), |(norm, residual)| {
            *norm = residual.dot(&residual).sqrt();
        });
    }
}

/// One right-hand side's part of a step with momentum.
struct Column<'c> {
    scale: f64,
    x: ArrayViewMut1<'c, f64>,
    v: ArrayViewMut1<'c, f64>,
    z: ArrayViewMut1<'c, f64>,
    change: ArrayView1<'c, f64>,
    /// Before the step, the change of Z's residual by D; afterwards W's residual.
    residual: ArrayViewMut1<'c, f64>,
    residual_v: ArrayViewMut1<'c, f64>,
    residual_z: ArrayViewMut1<'c, f64>,
}

impl Column<'_> {
    fn step(&mut self, Nesterov { beta, gamma, alpha, .. }: Nesterov, rows: &[usize]) {
        let scale = self.scale;
        // First as if D were zero; then what it adds to each sequence.
        Zip::from(&mut self.x).and(&mut self.v).and(&mut self.z).for_each(|x, v, z| {
            *x = scale * *z;
            *v = beta * *v + (1.0 - beta) * *z;
            *z = alpha * *v + (1.0 - alpha) * *z;
        });
        let ahead = alpha * gamma + 1.0 - alpha;
        for (&row, change) in rows.iter().zip(&self.change) {
            self.x[row] += scale * change;
            self.v[row] += gamma * change;
            self.z[row] += ahead * change;
        }
        let residuals = Zip::from(&mut self.residual).and(&mut self.residual_v).and(&mut self.residual_z);
        residuals.for_each(|residual, residual_v, residual_z| {
            let change = *residual;
            *residual = *residual_z + change;
            *residual_v = beta * *residual_v + (1.0 - beta) * *residual_z + gamma * change;
            *residual_z = alpha * *residual_v + (1.0 - alpha) * *residual;
        });
    }
}
