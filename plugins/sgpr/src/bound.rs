//! The collapsed bound on the log marginal likelihood, an upper bound, and the gradient by hand.
//!
//! Titsias 2009, *Variational Learning of Inducing Variables in Sparse Gaussian Processes*; the upper bound is that of
//! Titsias 2014, *Variational Inference for Gaussian and Determinantal Point Processes*. With n rows, M inducing points,
//! L L^T = K(Z, Z) + j I, A = L^-1 K(Z, X), B = I + A A^T / s^2, Q = A^T A + s^2 I, r = y - prior mean and
//! t = tr(K - A^T A):
//!
//! ```text
//! lower = -[ n log 2 pi + log|Q| + r^T Q^-1 r + t / s^2 ] / 2
//! upper = -[ n log 2 pi + log|Q| + r^T (Q + t I)^-1 r ] / 2
//! log|Q| = log|B| + n log s^2,    q = B^-1 A r / s^2,    a = Q^-1 r = (r - A^T q) / s^2
//! ```
//!
//! The gradient of the lower bound, with C = (I - B^-1) / s^2. The identities A a = q and
//! q q^T + C A A^T = q q^T + B + B^-1 - 2 I save products with A:
//!
//! ```text
//! by K(Z, X):   L^-T (q a^T + C A)
//! by K(Z, Z):   -L^-T (q q^T + B + B^-1 - 2 I) L^-1 / 2
//! by k(x, x):   -1 / (2 s^2)
//! by s^2:       [ a.a - (n - M + tr B^-1) / s^2 + t / s^4 ] / 2
//! by the mean:  sum a
//! ```
//!
//! The jitter is j = `jitter` s_f^2, so that it adds 2 `jitter` s_f tr(by K(Z, Z)) to the derivative by s_f. Beside the
//! kernel entries, an evaluation takes 4 n M^2 operations: M^2 n for A, M^2 n for A A^T, 2 M^2 n for the derivative by
//! K(Z, X), which replaces A in memory.

use std::f64::consts::TAU;

use gpbench_sdk::kernel::{Kernel, KernelGradient, Points};
use gpbench_sdk::ndarray::linalg::general_mat_mul;
use gpbench_sdk::ndarray::{
    Array1, Array2, ArrayRef2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder,
};
use gpbench_sdk::symmetric::{self, column_major};
use gpbench_sdk::{Result, Workers, lapack, panels, tall};

/// Scales and inducing points at which a bound is evaluated.
#[derive(Debug, Clone, Copy)]
pub struct BoundPoint<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Standard deviation s of the noise.
    pub noise_scale: f64,
    /// Inducing points Z, M x d.
    pub z: ArrayView2<'a, f64>,
    /// Number added to the diagonal of K(Z, Z), in units of the signal variance.
    pub jitter: f64,
}

/// The training rows.
#[derive(Debug, Clone, Copy)]
pub struct BoundRows<'a> {
    /// Inputs, n x d.
    pub x: ArrayView2<'a, f64>,
    /// Targets less the prior mean.
    pub residual: ArrayView1<'a, f64>,
}

/// A bound at a point, with the distribution at the inducing points that reaches it.
#[derive(Debug, Clone, PartialEq)]
pub struct CollapsedBound {
    /// Lower bound on the log marginal likelihood of all rows.
    pub lower: f64,
    /// Upper bound on it.
    pub upper: f64,
    /// log|Q|.
    pub log_determinant: f64,
    /// r^T Q^-1 r.
    pub quadratic: f64,
    /// t, not negative.
    pub trace: f64,
    /// The distribution.
    pub distribution: OptimalDistribution,
}

/// The distribution N(q, R R^T) of the whitened values at the inducing points, R R^T = B^-1.
#[derive(Debug, Clone, PartialEq)]
pub struct OptimalDistribution {
    /// q.
    pub mean: Array1<f64>,
    /// R, lower triangular and column-major.
    pub root: Array2<f64>,
}

/// Derivatives of the lower bound.
#[derive(Debug, Clone, PartialEq)]
pub struct CollapsedGradient {
    /// By the noise scale s.
    pub noise_scale: f64,
    /// By the signal scale.
    pub signal_scale: f64,
    /// By the length scales, as many as the kernel has.
    pub length_scale: Array1<f64>,
    /// By the prior mean.
    pub mean: f64,
    /// By Z, M x d; 0 x 0 unless asked for.
    pub points: Array2<f64>,
}

/// Memory for evaluations: M x n and M x M numbers, kept from one to the next.
#[derive(Debug, Default)]
pub struct BoundMemory {
    /// K(Z, X), then A, then the derivative by K(Z, X).
    cross: Array2<f64>,
    /// L.
    factor: Array2<f64>,
    /// A A^T, then B.
    gram: Array2<f64>,
}

impl BoundMemory {
    /// Evaluates the bounds, and the gradient of the lower one; with the derivatives by Z if `moves` says so.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`](gpbench_sdk::Error::NotPositiveDefinite) if K(Z, Z) + j I or B is not, to working
    /// precision.
    pub fn evaluate(
        &mut self,
        at: &BoundPoint<'_>,
        rows: &BoundRows<'_>,
        moves: bool,
        workers: Workers<'_>,
    ) -> Result<(CollapsedBound, CollapsedGradient)> {
        self.solve(at, rows, workers)?;
        let bound = self.bound(at, rows, workers)?;
        let gradient = self.gradient(at, rows, &bound, moves, workers)?;
        Ok((bound, gradient))
    }

    /// Computes L, A and A A^T.
    fn solve(&mut self, at: &BoundPoint<'_>, rows: &BoundRows<'_>, workers: Workers<'_>) -> Result<()> {
        let (m, n) = (at.z.nrows(), rows.x.nrows());
        if self.cross.dim() != (m, n) {
            self.cross = Array2::zeros((m, n).f());
            (self.factor, self.gram) = (Array2::zeros((m, m).f()), Array2::zeros((m, m).f()));
        }
        at.kernel.gram_into(&at.z, &at.z, &mut self.factor, workers);
        symmetric::add_diagonal(at.jitter * at.kernel.signal_scale.powi(2), &mut self.factor);
        panels::cholesky(&mut self.factor, workers)?;
        at.kernel.gram_into(&at.z, &rows.x, &mut self.cross, workers);
        let factor = &self.factor;
        in_panels(&mut self.cross, workers, |_, mut panel| panels::solve(factor, &mut panel))?;
        self.gram.fill(0.0);
        symmetric::add_gram_shared(&self.cross.t(), &mut self.gram, workers);
        Ok(())
    }

    /// The bounds and the distribution. Replaces A A^T by B.
    fn bound(
        &mut self,
        at: &BoundPoint<'_>,
        rows: &BoundRows<'_>,
        workers: Workers<'_>,
    ) -> Result<CollapsedBound> {
        let (n, noise) = (rows.x.nrows() as f64, at.noise_scale.powi(2));
        let explained = self.gram.diag().sum();
        let trace = (n * at.kernel.signal_scale.powi(2) - explained).max(0.0);
        let residual = column(rows.residual);
        let squares = rows.residual.dot(&rows.residual);
        let projected = tall::product(&self.cross.t(), &residual, workers);

        // With more noise, s^2 + t, in the quadratic form alone.
        let wide = noise + trace;
        let mut factor = plus_identity(&self.gram, wide);
        panels::cholesky(&mut factor, workers)?;
        let mut solved = projected.clone();
        lapack::solve_lower(&factor, false, &mut solved)?;
        let wide_quadratic = (squares - dot(&solved, &solved) / wide) / wide;
        drop(factor);

        self.gram = plus_identity(&self.gram, noise);
        let root = symmetric::inverse_root(&self.gram, workers)?;
        let mut mean = projected.clone();
        lapack::multiply_lower(&root, true, &mut mean)?;
        lapack::multiply_lower(&root, false, &mut mean)?;
        mean /= noise;
        let quadratic = (squares - dot(&projected, &mean)) / noise;
        let log_determinant = n * noise.ln() - lapack::log_determinant(&root);
        let normal = n * TAU.ln() + log_determinant;
        Ok(CollapsedBound {
            lower: -0.5 * (normal + quadratic + trace / noise),
            upper: -0.5 * (normal + wide_quadratic),
            log_determinant,
            quadratic,
            trace,
            distribution: OptimalDistribution { mean: mean.remove_axis(Axis(1)), root },
        })
    }

    /// The gradient, after [`bound`](Self::bound). Replaces A by the derivative by K(Z, X).
    fn gradient(
        &mut self,
        at: &BoundPoint<'_>,
        rows: &BoundRows<'_>,
        bound: &CollapsedBound,
        moves: bool,
        workers: Workers<'_>,
    ) -> Result<CollapsedGradient> {
        let (m, n) = (at.z.nrows() as f64, rows.x.nrows() as f64);
        let (signal_scale, noise) = (at.kernel.signal_scale, at.noise_scale.powi(2));
        let OptimalDistribution { mean: q, root } = &bound.distribution;
        let inverse = outer_product(root, workers);
        let inverse_trace = inverse.diag().sum();

        let mut weights = column(rows.residual);
        tall::add_product(-1.0, &self.cross.t(), &column(q.view()), &mut weights, workers);
        weights /= noise;

        let mut by_inducing = self.by_inducing(q, &inverse, workers)?;
        by_inducing *= -0.5;
        self.by_cross(q, inverse, &weights, noise, workers)?;

        let sides = if moves { Points::Rows } else { Points::Neither };
        let mut total = at.kernel.pull_back(&at.z, &rows.x, &self.cross, sides, workers);
        // With a symmetric cotangent, the derivatives by the columns' points equal those by the rows'.
        let inducing = at.kernel.pull_back(&at.z, &at.z, &by_inducing, sides, workers);
        total.add_scales(&inducing);
        let KernelGradient { signal_scale: by_signal, length_scale, rows: mut points, .. } = total;
        if moves {
            points.scaled_add(2.0, &inducing.rows);
        }
        let by_jitter = 2.0 * at.jitter * signal_scale * by_inducing.diag().sum();
        let by_noise_variance =
            0.5 * (dot(&weights, &weights) - (n - m + inverse_trace) / noise + bound.trace / noise.powi(2));
        Ok(CollapsedGradient {
            noise_scale: 2.0 * at.noise_scale * by_noise_variance,
            signal_scale: by_signal + by_jitter - n * signal_scale / noise,
            length_scale,
            mean: weights.sum(),
            points,
        })
    }

    /// L^-T (q q^T + B + B^-1 - 2 I) L^-1, both triangles of it.
    fn by_inducing(
        &self,
        q: &Array1<f64>,
        inverse: &Array2<f64>,
        workers: Workers<'_>,
    ) -> Result<Array2<f64>> {
        let mut by_inducing = column_major(&self.gram);
        lapack::mirror_lower(&mut by_inducing);
        by_inducing += inverse;
        symmetric::add_diagonal(-2.0, &mut by_inducing);
        for (mut column, &entry) in by_inducing.columns_mut().into_iter().zip(q) {
            column.scaled_add(entry, q);
        }
        panels::congruence(&self.factor, &mut by_inducing, workers)?;
        Ok(by_inducing)
    }

    /// L^-T (q a^T + C A) in place of A.
    fn by_cross(
        &mut self,
        q: &Array1<f64>,
        inverse: Array2<f64>,
        weights: &Array2<f64>,
        noise: f64,
        workers: Workers<'_>,
    ) -> Result<()> {
        // L^-T C, and L^-T q.
        let mut by_a = inverse;
        by_a /= -noise;
        symmetric::add_diagonal(noise.recip(), &mut by_a);
        let factor = &self.factor;
        in_panels(&mut by_a, workers, |_, mut panel| panels::solve_transposed(factor, &mut panel))?;
        let mut by_weights = column(q.view());
        lapack::solve_lower(factor, true, &mut by_weights)?;
        in_panels(&mut self.cross, workers, |index, mut panel| {
            let first = index * panels::COLUMNS;
            let a = column_major(&panel);
            general_mat_mul(1.0, &by_a, &a, 0.0, &mut panel);
            for (j, mut column) in panel.columns_mut().into_iter().enumerate() {
                column.scaled_add(weights[[first + j, 0]], &by_weights.column(0));
            }
            Ok(())
        })
    }
}

/// Calls `work` on panels of columns, and returns the first panel's error.
fn in_panels<'p>(
    a: &'p mut Array2<f64>,
    workers: Workers<'_>,
    work: impl Fn(usize, ArrayViewMut2<'p, f64>) -> Result<()> + Sync,
) -> Result<()> {
    panels::in_panels(a.axis_chunks_iter_mut(Axis(1), panels::COLUMNS), workers, work)
}

/// S / scale + I.
fn plus_identity(s: &Array2<f64>, scale: f64) -> Array2<f64> {
    let mut sum = column_major(s);
    sum /= scale;
    symmetric::add_diagonal(1.0, &mut sum);
    sum
}

/// R R^T, both triangles of it.
fn outer_product(root: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
    let mut product = Array2::zeros(root.dim().f());
    panels::lower_product(root, root, &mut product, workers);
    lapack::mirror_lower(&mut product);
    product
}

/// A vector as a matrix of one column.
fn column(vector: ArrayView1<'_, f64>) -> Array2<f64> {
    let mut column = Array2::zeros((vector.len(), 1).f());
    column.column_mut(0).assign(&vector);
    column
}

/// The inner product of two columns.
fn dot(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    a.column(0).dot(&b.column(0))
}
