//! The exact Gaussian process through a dense Cholesky factor.
//!
//! It takes n^2 numbers of memory and n^3 / 6 multiply-adds, and is the reference where n is small enough.

mod gradient;

use std::f64::consts::PI;
use std::sync::Arc;

use gpbench_numerics::{factor, lapack};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, ShapeBuilder, s};
use rayon::ThreadPool;

use crate::NotPositiveDefinite;
use crate::threads::{OnPool, ThreadsRefused, thread_pool};
use crate::{Kernel, KernelMatrix, KernelOperator, SystemMatrix};

/// Why an exact fit failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExactError {
    /// The kernel matrix plus noise is singular in double precision.
    #[error("the kernel matrix with noise is singular: {0}")]
    Singular(#[from] NotPositiveDefinite),
    /// There are no threads to compute on.
    #[error(transparent)]
    Threads(#[from] ThreadsRefused),
}

/// An exact Gaussian process with the Cholesky factor of its matrix.
#[derive(Debug)]
pub struct ExactGp {
    op: KernelOperator,
    /// L of `H = L L^T` in the lower triangle.
    factor: Array2<f64>,
    /// Representer weights `H^-1 y`.
    pub v: Array1<f64>,
    /// `log |H|`.
    pub log_det: f64,
    /// `y^T H^-1 y`.
    pub y_hinv_y: f64,
    /// `-(y^T H^-1 y + log |H| + n log(2 pi)) / 2`.
    pub log_marginal_likelihood: f64,
}

/// Test rows that are predicted together; memory is n^2 + n times this.
const BLOCK: usize = 512;

impl ExactGp {
    /// Factorises `H` over the rows of `x` (n x d), in one n x n array, on
    /// `threads` threads.
    ///
    /// # Errors
    /// [`ExactError::Singular`] where H is not positive definite in double precision; [`ExactError::Threads`].
    pub fn fit(
        kernel: &Kernel,
        noise_scale: f64,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
        threads: usize,
    ) -> Result<Self, ExactError> {
        Ok(Self::fit_on(kernel, noise_scale, x, y, &thread_pool(threads)?)?)
    }

    /// Does the same as [`Self::fit`] on a given pool.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] where H is not positive definite in double precision.
    pub fn fit_on(
        kernel: &Kernel,
        noise_scale: f64,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
        pool: &Arc<ThreadPool>,
    ) -> Result<Self, NotPositiveDefinite> {
        assert_eq!(x.nrows(), y.len(), "one target per row");
        let op = KernelOperator::with_pool(kernel, noise_scale, x, Arc::clone(pool));
        let mut factor = op.lower_triangle();
        factor::factorise(&mut factor, OnPool(op.pool())).map_err(NotPositiveDefinite::of)?;
        let log_det = 2.0 * factor.diag().iter().map(|l| l.ln()).sum::<f64>();
        let mut gp =
            ExactGp { op, factor, v: Array1::zeros(0), log_det, y_hinv_y: 0.0, log_marginal_likelihood: 0.0 };
        gp.v = gp.solve(y.insert_axis(Axis(1))).column(0).to_owned();
        gp.y_hinv_y = y.dot(&gp.v);
        let n = y.len() as f64;
        gp.log_marginal_likelihood = -0.5 * (gp.y_hinv_y + gp.log_det + n * (2.0 * PI).ln());
        Ok(gp)
    }

    /// `H^-1 rhs` for a block of right-hand sides, n x s.
    pub fn solve(&self, rhs: ArrayView2<f64>) -> Array2<f64> {
        let mut x = Array2::zeros(rhs.dim().f());
        x.assign(&rhs);
        factor::solve(&self.factor, &mut x, OnPool(self.op.pool()));
        x
    }

    /// Estimate of the rounding error in [`log_marginal_likelihood`](Self::log_marginal_likelihood).
    ///
    /// Rounding changes the entries of H by machine epsilon times the prior variance s^2. To first order,
    /// `y^T H^-1 y` then changes by `epsilon s^2 |v|^2` where the errors do not conspire; the factorisation rounds too,
    /// hence a factor of 3. `log |H|` changes by at most `epsilon s^2 n |H^-1|`, which the diagonal attains, since its
    /// entries all round alike. `|H^-1|` is bounded by its 1-norm, as estimated from the factor, and by
    /// 1 / noise_scale^2.
    pub fn likelihood_error(&self) -> f64 {
        const OF_FACTORISATION: f64 = 3.0;
        let epsilon = f64::EPSILON * self.op.kernel().variance();
        let most = self.op.noise_scale().powi(-2);
        // For |H| given as 1, the condition number is the norm of the inverse.
        let reciprocal = lapack::reciprocal_condition(&self.factor, 1.0);
        let inverse = reciprocal.map_or(most, |reciprocal| most.min(1.0 / reciprocal));
        let of_quadratic = OF_FACTORISATION * epsilon * self.v.dot(&self.v);
        let of_determinant = epsilon * self.n() as f64 * inverse;
        0.5 * (of_quadratic + of_determinant)
    }

    /// Posterior mean and latent variance (without observation noise) at the rows of `x_star`. A variance that
    /// rounding makes negative is returned as 0.
    pub fn predict(&self, x_star: ArrayView2<f64>) -> (Array1<f64>, Array1<f64>) {
        let mut mean = Array1::zeros(x_star.nrows());
        let mut variance = Array1::zeros(x_star.nrows());
        for (c, part) in x_star.axis_chunks_iter(Axis(0), BLOCK).enumerate() {
            let rows = c * BLOCK..c * BLOCK + part.nrows();
            let mut cross = self.op.cross_matrix(part);
            mean.slice_mut(s![rows.clone()]).assign(&cross.t().dot(&self.v));
            factor::solve_lower(&self.factor, &mut cross, OnPool(self.op.pool()));
            let explained = cross.map_axis(Axis(0), |column| column.dot(&column));
            let prior = self.op.kernel().variance();
            variance.slice_mut(s![rows]).assign(&explained.mapv(|e| (prior - e).max(0.0)));
        }
        (mean, variance)
    }

    /// The operator that was factorised.
    pub fn operator(&self) -> &dyn SystemMatrix {
        &self.op
    }

    /// Number of training rows.
    pub fn n(&self) -> usize {
        self.op.n()
    }
}
