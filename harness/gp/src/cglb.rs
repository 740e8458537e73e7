//! A lower bound on the log marginal likelihood from inducing points and an approximate solution of `H v = y`.
//!
//! Artemev, Burt and van der Wilk 2021, *Tighter Bounds on the Log Marginal Likelihood of Gaussian Process
//! Regression Using Conjugate Gradients* (CGLB). With inducing points Z (M x d), `L L^T = K(Z, Z) + j I`,
//! `A = L^-1 K(Z, X)` (M x n), `Q = A^T A + noise^2 I`, `t = tr(K - A^T A)`, any v (n) and its residual
//! `r = y - H v`:
//!
//! ```text
//! y^T H^-1 y / 2 lies in [q, q + g],   q = v.(y + r) / 2,   g = r^T Q^-1 r / 2 <= |r|^2 / (2 noise^2)
//! log |H| <= log |Q| + n log(1 + t / (n noise^2))
//! bound = -[ n log(2 pi) + log |Q| + n log(1 + t / (n noise^2)) ] / 2 - q - g  <=  log p(y)
//! ```
//!
//! The first line holds since `Q <= H`, and g is what the bound loses at most by an inexact v. At v = 0 the bound is
//! at least the collapsed one of Titsias 2009; at `v = H^-1 y` only the slack of the determinant is left. A v from
//! any solver gives a bound; [`tolerance`] is the residual that ensures a chosen g.
//!
//! The mean of the prediction is `K(X*, X) v` with the posterior mean of the residual under Q added,
//! `K(X*, Z) L^-T B^-1 A r / noise^2` with `B = I + A A^T / noise^2`; the variance is that of Titsias 2009.

mod gradient;

use std::f64::consts::PI;
use std::sync::Arc;

use gpbench_numerics::{Pool, factor, lapack, pieces};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, ShapeBuilder, Zip, s};
use rayon::ThreadPool;

use crate::NotPositiveDefinite;
use crate::threads::OnPool;
use crate::{Kernel, KernelMatrix, KernelOperator, SystemMatrix};

/// Jitter j in units of the signal variance, which keeps L accurate where points nearly coincide.
pub const JITTER: f64 = 1e-6;

/// Columns of A in one task.
const COLUMNS: usize = 128;

/// Columns of A A^T in one task.
const PANEL: usize = 32;

/// The largest tolerance: zero weights have the relative residual 1.
const LOOSEST: f64 = 0.9;

/// The relative residual of `H v = y` at which the bound loses at most `gap` by an inexact v:
/// `noise sqrt(2 gap) / |y|`.
pub fn tolerance(gap: f64, noise_scale: f64, y: ArrayView1<f64>) -> f64 {
    // Targets of zeros are solved by zeros: the quotient is infinite.
    (noise_scale * (2.0 * gap).sqrt() / y.dot(&y).sqrt()).min(LOOSEST)
}

/// The parts of the bound that depend on the kernel and the inducing points, but on no targets. It holds M n + 3 M^2
/// numbers.
#[derive(Debug)]
pub struct BoundFactor {
    /// K(Z, Z) + j I.
    points: KernelOperator,
    /// Z, M x d.
    z: Array2<f64>,
    /// j in units of the signal variance.
    jitter: f64,
    /// L in the lower triangle.
    lower: Array2<f64>,
    /// A, M x n, column-major.
    a: Array2<f64>,
    /// The lower triangle of A A^T.
    gram: Array2<f64>,
    /// The Cholesky factor of B in the lower triangle.
    inner: Array2<f64>,
    /// noise^2.
    noise: f64,
    /// `t = tr(K - A^T A)`, the variance that the inducing points leave unexplained; not negative.
    pub unexplained: f64,
    /// The upper bound on `log |H|`.
    pub log_det: f64,
}

/// The bound at an approximate solution of `H v = y`.
#[derive(Debug, Clone, PartialEq)]
pub struct ConjugateBound {
    /// The bound on `log p(y)`.
    pub value: f64,
    /// q, a lower bound on `y^T H^-1 y / 2`.
    pub quadratic: f64,
    /// g: `y^T H^-1 y / 2` is at most so far above q, and the bound at `H^-1 y` so far above this one.
    pub gap: f64,
    /// v.
    solution: Array1<f64>,
    /// `w = Q^-1 r`.
    weights: Array1<f64>,
    /// `A w = B^-1 A r / noise^2`, M.
    projected: Array1<f64>,
}

impl BoundFactor {
    /// Factorises K(Z, Z) and B for the rows of `x` (n x d) and the points `z` (M x d). `jitter` is in units of the
    /// signal variance. Takes M n + M^2 kernel entries and about M^2 n multiply-adds.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] where K(Z, Z) + j I is singular in double precision.
    pub fn new(
        kernel: &Kernel,
        noise_scale: f64,
        x: ArrayView2<f64>,
        z: ArrayView2<f64>,
        jitter: f64,
        pool: &Arc<ThreadPool>,
    ) -> Result<Self, NotPositiveDefinite> {
        let (n, noise) = (x.nrows() as f64, noise_scale * noise_scale);
        let points =
            KernelOperator::with_pool(kernel, jitter.sqrt() * kernel.signal_scale, z, Arc::clone(pool));
        let mut lower = points.lower_triangle();
        factor::factorise(&mut lower, OnPool(pool)).map_err(NotPositiveDefinite::of)?;
        let mut a = points.cross_matrix(x);
        OnPool(pool).for_each(a.axis_chunks_iter_mut(Axis(1), COLUMNS), |mut block| {
            lapack::solve_lower(&lower, false, &mut block).expect(SHAPES_FIT);
        });
        let gram = gram(&a, pool);
        let mut inner = gram.clone();
        inner /= noise;
        inner.diag_mut().mapv_inplace(|entry| entry + 1.0);
        factor::factorise(&mut inner, OnPool(pool)).map_err(NotPositiveDefinite::of)?;
        // Rounding can make the difference negative.
        let unexplained = (n * kernel.variance() - gram.diag().sum()).max(0.0);
        let log_det =
            lapack::log_determinant(&inner) + n * noise.ln() + n * (unexplained / (n * noise)).ln_1p();
        Ok(BoundFactor {
            points,
            z: z.to_owned(),
            jitter,
            lower,
            a,
            gram,
            inner,
            noise,
            unexplained,
            log_det,
        })
    }

    /// The bound at `v` (n) for targets `y` (n), by one product with `op`, which is H.
    pub fn at(&self, op: &dyn KernelMatrix, y: ArrayView1<f64>, v: ArrayView1<f64>) -> ConjugateBound {
        let mut product = Array2::zeros((y.len(), 1).f());
        op.apply(v.insert_axis(Axis(1)), product.view_mut());
        let residual = &y - &product.column(0);
        let projected = self.project(residual.view());
        let weights = (&residual - &self.a.t().dot(&projected)) / self.noise;
        let quadratic = 0.5 * (v.dot(&y) + v.dot(&residual));
        let gap = 0.5 * residual.dot(&weights);
        // Rounding can make it negative; `max` would hide NaN.
        let gap = if gap < 0.0 { 0.0 } else { gap };
        let constant = y.len() as f64 * (2.0 * PI).ln();
        let value = -0.5 * (constant + self.log_det) - quadratic - gap;
        ConjugateBound { value, quadratic, gap, solution: v.to_owned(), weights, projected }
    }

    /// Mean and latent variance (without observation noise) at the rows of `x_star`, by n* (n + M) kernel entries. A
    /// variance that rounding makes negative is returned as 0.
    pub fn predict(
        &self,
        op: &dyn KernelMatrix,
        bound: &ConjugateBound,
        x_star: ArrayView2<f64>,
    ) -> (Array1<f64>, Array1<f64>) {
        let of_solution = op.cross(x_star, bound.solution.view().insert_axis(Axis(1)));
        let prior = self.points.kernel().variance();
        let moments = pieces::map(x_star, OnPool(self.points.pool()), |_, x| {
            let mut a = self.points.cross_matrix(x);
            lapack::solve_lower(&self.lower, false, &mut a).expect(SHAPES_FIT);
            let mean = a.t().dot(&bound.projected);
            let explained = squares(&a);
            lapack::solve_lower(&self.inner, false, &mut a).expect(SHAPES_FIT);
            let mut variance = squares(&a);
            Zip::from(&mut variance)
                .and(&explained)
                .for_each(|variance, explained| *variance = (prior - explained + *variance).max(0.0));
            (mean, variance)
        });
        let (mean, variance) = pieces::join(moments);
        (mean + of_solution.column(0), variance)
    }

    /// Number of inducing points M.
    pub fn count(&self) -> usize {
        self.z.nrows()
    }

    /// `B^-1 A r / noise^2`, which equals `A Q^-1 r`.
    fn project(&self, r: ArrayView1<f64>) -> Array1<f64> {
        let mut projected = self.a.dot(&r).insert_axis(Axis(1));
        lapack::cholesky_solve(&self.inner, &mut projected).expect(SHAPES_FIT);
        projected.remove_axis(Axis(1)) / self.noise
    }
}

impl ConjugateBound {
    /// Derivative of the bound by a constant prior mean, which is subtracted from y: the sum of `v + w`.
    pub fn by_mean(&self) -> f64 {
        self.solution.sum() + self.weights.sum()
    }
}

const SHAPES_FIT: &str = "shapes fit";

/// The lower triangle of A A^T, panel by panel.
fn gram(a: &Array2<f64>, pool: &ThreadPool) -> Array2<f64> {
    let mut gram = Array2::zeros((a.nrows(), a.nrows()).f());
    OnPool(pool).for_each(gram.axis_chunks_iter_mut(Axis(1), PANEL).enumerate(), |(index, mut panel)| {
        let start = index * PANEL;
        let columns = a.slice(s![start..start + panel.ncols(), ..]);
        let mut below = panel.slice_mut(s![start.., ..]);
        general_mat_mul(1.0, &a.slice(s![start.., ..]), &columns.t(), 0.0, &mut below);
    });
    gram
}

/// The squared norm of each column.
fn squares(a: &Array2<f64>) -> Array1<f64> {
    a.map_axis(Axis(0), |column| column.dot(&column))
}
