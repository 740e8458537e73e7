//! The distribution that maximises the bound of all rows, in closed form.
//!
//! Titsias 2009, *Variational learning of inducing variables in sparse Gaussian processes*, in the whitened form of
//! `bound`. With A = L^-1 K(Z, X) for all n rows, r = y - prior mean and B = I + A A^T / s^2, the bound is greatest at
//!
//! ```text
//! m = B^-1 A r / s^2,    R R^T = B^-1
//! bound = log N(r; 0, A^T A + s^2 I) - ( sum k(x_i, x_i) - |A|_F^2 ) / (2 s^2)
//! ```
//!
//! It takes 2 n M^2 operations for A and B, and (2/3) M^3 beside the factor L.

use std::f64::consts::TAU;

use gpbench_sdk::inducing::squares;
use gpbench_sdk::ndarray::linalg::general_mat_vec_mul;
use gpbench_sdk::ndarray::{Array1, Array2, ArrayRef2, Axis, ShapeBuilder};
use gpbench_sdk::{Result, Workers, lapack, panels, symmetric};

/// Sums over rows, from which the best distribution is computed.
#[derive(Debug)]
pub(crate) struct Sums {
    /// Number of rows.
    n: usize,
    noise_variance: f64,
    /// B, in the lower triangle.
    precision: Array2<f64>,
    /// A r / s^2.
    pull: Array1<f64>,
    /// |r|^2.
    squares: f64,
    /// sum k(x_i, x_i) - |A|_F^2.
    missing: f64,
}

/// The best distribution.
#[derive(Debug)]
pub(crate) struct Optimum {
    /// m.
    pub(crate) mean: Array1<f64>,
    /// R, column-major, 0 above the diagonal.
    pub(crate) root: Array2<f64>,
    /// The bound of all rows at this distribution.
    pub(crate) bound: f64,
}

impl Sums {
    /// Sums over no rows, for `m` inducing points.
    pub(crate) fn new(m: usize, noise_variance: f64) -> Sums {
        let mut precision = Array2::zeros((m, m).f());
        symmetric::add_diagonal(1.0, &mut precision);
        Sums { n: 0, noise_variance, precision, pull: Array1::zeros(m), squares: 0.0, missing: 0.0 }
    }

    /// Adds b rows: K(Z, X) of them, which becomes A, their prior variances and their residuals r.
    pub(crate) fn add(
        &mut self,
        factor: &ArrayRef2<f64>,
        cross: &mut Array2<f64>,
        prior: &Array1<f64>,
        residual: &Array1<f64>,
        workers: Workers<'_>,
    ) -> Result<()> {
        let columns = cross.axis_chunks_iter_mut(Axis(1), panels::COLUMNS);
        panels::in_panels(columns, workers, |_, mut panel| panels::solve(factor, &mut panel))?;
        self.n += residual.len();
        self.squares += residual.dot(residual);
        self.missing += prior.sum() - squares(cross).sum();
        general_mat_vec_mul(self.noise_variance.recip(), cross, residual, 1.0, &mut self.pull);
        // B takes A A^T / s^2.
        *cross /= self.noise_variance.sqrt();
        symmetric::add_gram_shared(&cross.t(), &mut self.precision, workers);
        Ok(())
    }

    /// The distribution that maximises the bound of the rows so far.
    pub(crate) fn optimum(self, workers: Workers<'_>) -> Result<Optimum> {
        let root = symmetric::inverse_root(&self.precision, workers)?;
        let mut mean = self.pull.clone().insert_axis(Axis(1));
        lapack::multiply_lower(&root, true, &mut mean)?;
        lapack::multiply_lower(&root, false, &mut mean)?;
        let mean = mean.remove_axis(Axis(1));

        let unexplained = self.squares / self.noise_variance - self.pull.dot(&mean);
        let normal = self.n as f64 * (TAU * self.noise_variance).ln() - lapack::log_determinant(&root);
        let bound = -0.5 * (normal + unexplained + self.missing / self.noise_variance);
        Ok(Optimum { mean, root, bound })
    }
}
