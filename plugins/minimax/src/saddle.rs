//! The variables A and B of the minimax problem, their gradients and projections.
//!
//! Shoham and Avron 2025, section 3.1: with g the sum over rows ([`Objective::of_rows`](gpbench_sdk::finite::Objective::of_rows)),
//!
//! ```text
//! Psi = g + log|A| + mu <B, A - F> / |A|,   F = Phi^T Phi + s^2 I,   norms of Frobenius
//! ```
//!
//! is minimised by the parameters and A >= s^2 I and maximised by |B| <= 1. In estimates from a batch S of n rows,
//! c Phi_S^T Phi_S with c = n / |S| stands for Phi^T Phi. Every gradient is then unbiased.
//!
//! Operations of a step that grow as D^3:
//!
//! ```text
//! log|A|, A^-1             D^3       factor, inverse of the factor, and its square
//! A >= s^2 I ?             D^3 / 3   factor of A - s^2 I; it ends at the first pivot that is not positive
//! the nearest such A       4 D^3 / 3 tridiagonal form, and 4 k D^2 for the k eigenvectors on one side of s^2
//! ```
//!
//! With V the eigenvectors on one side and T their eigenvalues, the projection of A is either of
//!
//! ```text
//! A + V (s^2 I - T) V^T       those below s^2
//! s^2 I + V (T - s^2 I) V^T   those above it
//! ```
//!
//! so that the smaller side is enough, and k is at most D / 2. The README says why the tridiagonal form stays.

use gpbench_sdk::lapack::{self, EigenSide};
use gpbench_sdk::ndarray::{Array2, ArrayRef2, Axis, ShapeBuilder, Zip};
use gpbench_sdk::{Result, Workers, symmetric};

/// Order from which threads share the work on A and B; for smaller matrices it would take longer to wake them.
const SHARED: usize = 512;

/// Columns that a thread takes at a time.
const COLUMNS: usize = 64;

/// A and B, D x D, symmetric and column-major.
#[derive(Debug, Clone, PartialEq)]
pub struct Saddle {
    /// A.
    pub a: Array2<f64>,
    /// B.
    pub b: Array2<f64>,
}

/// The term log|A| + mu <B, A - F_S> / |A| of the minimisation, with its derivatives.
#[derive(Debug, Clone)]
pub struct Penalty {
    /// The term.
    pub value: f64,
    /// Derivative by the batch's features: -(2 c mu / |A|) Phi_S B.
    pub by_features: Array2<f64>,
    /// Derivative by s^2: -(mu / |A|) tr B.
    pub by_noise_variance: f64,
    /// Derivative by A: A^-1 + mu (B / |A| - <B, A - F_S> A / |A|^3).
    pub by_a: Array2<f64>,
}

/// The Frobenius norm.
pub fn norm(a: &ArrayRef2<f64>) -> f64 {
    inner(a, a).sqrt()
}

/// The Frobenius inner product of two matrices of one layout.
fn inner(a: &ArrayRef2<f64>, b: &ArrayRef2<f64>) -> f64 {
    a.columns().into_iter().zip(b.columns()).map(|(a, b)| a.dot(&b)).sum()
}

impl Saddle {
    /// A = `a`, B = 0.
    pub fn new(a: Array2<f64>) -> Saddle {
        let b = Array2::zeros(a.dim().f());
        Saddle { a, b }
    }

    /// The threads that work on matrices of this order.
    fn sharing<'w>(&self, workers: Workers<'w>) -> Workers<'w> {
        if self.a.nrows() < SHARED { Workers::new(1) } else { workers }
    }

    /// The gradient of the minimisation, for the features of a batch out of `n` rows.
    pub fn penalty(
        &self,
        n: usize,
        features: &ArrayRef2<f64>,
        noise_variance: f64,
        mu: f64,
        workers: Workers<'_>,
    ) -> Result<Penalty> {
        let Saddle { a, b } = self;
        let workers = self.sharing(workers);
        let scale = n as f64 / features.nrows() as f64;
        let size = norm(a);
        let mut by_features = features.dot(b);
        let gram =
            scale * Zip::from(&by_features).and(features).fold(0.0, |sum, pulled, phi| sum + pulled * phi);
        let gap = inner(b, a) - gram - noise_variance * b.diag().sum();
        by_features *= -2.0 * scale * mu / size;

        let factor = symmetric::shifted_factor_shared(a, 0.0, workers)?;
        let log_determinant = lapack::log_determinant(&factor);
        let mut by_a = symmetric::inverse(&factor, workers);
        let (by_b, by_size) = (mu / size, mu * gap / size.powi(3));
        let columns = a.axis_chunks_iter(Axis(1), COLUMNS).zip(b.axis_chunks_iter(Axis(1), COLUMNS));
        workers.for_each(by_a.axis_chunks_iter_mut(Axis(1), COLUMNS).zip(columns), |(mut by, (a, b))| {
            Zip::from(&mut by).and(&a).and(&b).for_each(|by, a, b| *by += by_b * b - by_size * a);
        });
        Ok(Penalty {
            value: log_determinant + mu * gap / size,
            by_features,
            by_noise_variance: -mu / size * b.diag().sum(),
            by_a,
        })
    }

    /// The negative gradient by B, -mu (A - F_S) / |A|, for the features of a batch out of `n` rows: a step
    /// down it is one up Psi.
    pub fn against_b(
        &self,
        n: usize,
        features: &ArrayRef2<f64>,
        noise_variance: f64,
        mu: f64,
    ) -> Result<Array2<f64>> {
        let weight = mu / norm(&self.a);
        let scale = n as f64 / features.nrows() as f64;
        let mut down = self.a.clone();
        symmetric::add_gram(weight * scale, features, -weight, &mut down)?;
        symmetric::add_diagonal(weight * noise_variance, &mut down);
        lapack::mirror_lower(&mut down);
        Ok(down)
    }

    /// Moves A to the nearest matrix with A >= `least` I. Returns the number of eigenvalues that were lifted.
    pub fn project_a(&mut self, least: f64, workers: Workers<'_>) -> Result<usize> {
        let workers = self.sharing(workers);
        if symmetric::shifted_factor_shared(&self.a, -least, workers).is_ok() {
            return Ok(0);
        }
        let EigenSide { is_below, values, mut vectors } = lapack::symmetric_eigen_side(&self.a, least)?;
        let lifted = if is_below { values.len() } else { self.a.nrows() - values.len() };
        if !is_below {
            self.a.fill(0.0);
            self.a.diag_mut().fill(least);
        }
        for (mut vector, value) in vectors.columns_mut().into_iter().zip(values) {
            // An eigenvalue at the limit may be counted on one side and, by a rounding error, be found on the other.
            let distance = if is_below { least - value } else { value - least };
            vector *= distance.max(0.0).sqrt();
        }
        if !vectors.is_empty() {
            symmetric::add_gram_shared(&vectors.t(), &mut self.a, workers);
            lapack::mirror_lower(&mut self.a);
        }
        Ok(lifted)
    }

    /// Moves B to the nearest matrix with |B| <= 1.
    pub fn project_b(&mut self) {
        let size = norm(&self.b);
        if size > 1.0 {
            self.b /= size;
        }
    }
}
