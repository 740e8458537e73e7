//! One iteration's work on one right-hand side.

use gpbench_sdk::ndarray::{Array1, ArrayView1, ArrayViewMut1, Zip};

/// State of one right-hand side between iterations.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// Norm of the right-hand side; residual and direction are relative to it.
    pub(crate) scale: f64,
    /// r^T P r.
    pub(crate) gamma: f64,
    /// Whether steps are still taken. Ends when the residual is exactly zero, or when rounding leaves no
    /// step: d^T A d or r^T P r not positive.
    pub(crate) active: bool,
    /// Earlier residuals, if residuals are reorthogonalised.
    pub(crate) earlier: Vec<Earlier>,
}

/// An earlier residual, with r^T P r = 1.
#[derive(Debug, Clone)]
pub(crate) struct Earlier {
    r: Array1<f64>,
    /// P r; none without a preconditioner, where it is r.
    preconditioned: Option<Array1<f64>>,
}

/// One right-hand side's part of an iteration.
pub(crate) struct Column<'c> {
    /// The sum so far, in the right-hand side's own scale.
    pub(crate) x: ArrayViewMut1<'c, f64>,
    /// Residual of the truncated iterate, not of x.
    pub(crate) r: ArrayViewMut1<'c, f64>,
    /// Direction.
    pub(crate) d: ArrayViewMut1<'c, f64>,
    /// A d.
    pub(crate) product: ArrayView1<'c, f64>,
    /// P r; none without a preconditioner, where it is r.
    pub(crate) preconditioned: Option<ArrayView1<'c, f64>>,
    pub(crate) state: &'c mut State,
}

impl Column<'_> {
    /// d = P r + beta d with beta = (r^T P r now) / (r^T P r before).
    pub(crate) fn update_direction(&mut self) {
        let (r, state) = (self.r.view(), &mut *self.state);
        let preconditioned = self.preconditioned.unwrap_or(r);
        let gamma = r.dot(&preconditioned);
        // Before the first iteration gamma is infinite, so that d starts as P r.
        let beta = gamma / state.gamma;
        state.active = gamma > 0.0 && gamma.is_finite() && beta.is_finite();
        if state.active {
            Zip::from(&mut self.d).and(&preconditioned).for_each(|d, p| *d = p + beta * *d);
            state.gamma = gamma;
        }
    }

    /// x += weight alpha d, r -= alpha A d with alpha = r^T P r / d^T A d.
    pub(crate) fn step(&mut self, weight: f64) {
        let state = &mut *self.state;
        let alpha = state.gamma / self.d.dot(&self.product);
        // A negative, infinite or undefined step ends this column, whose sum stays.
        state.active = alpha > 0.0 && alpha.is_finite();
        if state.active {
            self.x.scaled_add(weight * alpha * state.scale, &self.d);
            self.r.scaled_add(-alpha, &self.product);
        }
    }

    /// Stores the residual for [`reorthogonalise`](Self::reorthogonalise).
    pub(crate) fn store_residual(&mut self) {
        let unit = 1.0 / self.state.gamma.sqrt();
        let preconditioned = self.preconditioned.map(|preconditioned| &preconditioned * unit);
        self.state.earlier.push(Earlier { r: &self.r * unit, preconditioned });
    }

    /// Makes the residual orthogonal, in the preconditioner's inner product, to all stored ones.
    pub(crate) fn reorthogonalise(&mut self) {
        // Two passes: the first leaves a rounding error of the size of what it subtracts.
        for Earlier { r, preconditioned } in self.state.earlier.iter().chain(&self.state.earlier) {
            let overlap = preconditioned.as_ref().unwrap_or(r).dot(&self.r);
            self.r.scaled_add(-overlap, r);
        }
    }
}
