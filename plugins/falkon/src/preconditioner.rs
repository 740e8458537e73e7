//! The preconditioner: what K(X, Z)^T K(X, Z) would be if the inducing points stood for all rows.
//!
//! With L L^T = K_ZZ + j I and R R^T = L^T L / M + (s^2 / n) I, both lower triangular,
//!
//! ```text
//! P = L^-T R^-T / sqrt(n),    P P^T = ( n / M K_ZZ^2 + s^2 K_ZZ )^-1   for j = 0
//! ```
//!
//! The paper's upper triangles are T = L^T and A = R^T.

use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::linalg::general_mat_mul;
use gpbench_sdk::ndarray::{Array2, ArrayRef2, Axis, ShapeBuilder};
use gpbench_sdk::symmetric::{self, column_major};
use gpbench_sdk::{Error, Problem, Result, Select, Workers, panels};

use crate::FalkonParams;

/// Largest number on the diagonal of the kernel matrix, in units of the signal variance.
const MOST_JITTER: f64 = 1e-3;

/// Right-hand sides that are solved together.
const COLUMNS: usize = 16;

/// The preconditioner, and the kernel matrix of the inducing points.
#[derive(Debug, Clone)]
pub struct FalkonPreconditioner {
    /// K_ZZ without the jitter, M x M.
    kernel: Array2<f64>,
    /// L.
    outer: Array2<f64>,
    /// R.
    inner: Array2<f64>,
    /// Number of rows n.
    rows: usize,
    /// Noise variance s^2.
    noise_variance: f64,
    /// j.
    jitter: f64,
}

impl FalkonPreconditioner {
    /// The preconditioner of a problem; without inducing points, those are the inputs of all rows. Uses M^2 kernel entries
    /// and (5/3) M^3 operations.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`](Error::NotPositiveDefinite) if no jitter suffices.
    pub fn new(problem: &Problem<'_>, params: &FalkonParams) -> Result<FalkonPreconditioner> {
        let (operator, workers) = (problem.operator(), problem.workers());
        let (rows, noise_variance) = (operator.n(), operator.inputs()?.noise_scale.powi(2));
        let kernel = kernel_matrix(problem, noise_variance)?;
        let (outer, jitter) = factorise(&kernel, params.jitter, workers)?;
        let m = kernel.nrows() as f64;
        let mut inner = Array2::zeros(outer.dim().f());
        symmetric::add_gram_shared(&outer, &mut inner, workers);
        inner /= m;
        symmetric::add_diagonal(noise_variance / rows as f64, &mut inner);
        panels::cholesky(&mut inner, workers)?;
        Ok(FalkonPreconditioner { kernel, outer, inner, rows, noise_variance, jitter })
    }

    /// s^2.
    pub(crate) fn noise_variance(&self) -> f64 {
        self.noise_variance
    }

    /// The jitter that was needed.
    pub(crate) fn jitter(&self) -> f64 {
        self.jitter
    }

    /// P v.
    pub fn apply(&self, v: &Array2<f64>, workers: Workers<'_>) -> Result<Array2<f64>> {
        let mut product = column_major(v);
        product /= (self.rows as f64).sqrt();
        panels::in_panels(product.axis_chunks_iter_mut(Axis(1), COLUMNS), workers, |_, mut v| {
            panels::solve_transposed(&self.inner, &mut v)?;
            panels::solve_transposed(&self.outer, &mut v)
        })?;
        Ok(product)
    }

    /// P^T v.
    pub fn apply_transposed(&self, v: &Array2<f64>, workers: Workers<'_>) -> Result<Array2<f64>> {
        let mut product = column_major(v);
        product /= (self.rows as f64).sqrt();
        panels::in_panels(product.axis_chunks_iter_mut(Axis(1), COLUMNS), workers, |_, mut v| {
            panels::solve(&self.outer, &mut v)?;
            panels::solve(&self.inner, &mut v)
        })?;
        Ok(product)
    }

    /// out += factor K_ZZ v.
    pub(crate) fn add_kernel_product(
        &self,
        factor: f64,
        v: &ArrayRef2<f64>,
        out: &mut Array2<f64>,
        workers: Workers<'_>,
    ) {
        let columns = out.axis_chunks_iter_mut(Axis(1), COLUMNS).zip(v.axis_chunks_iter(Axis(1), COLUMNS));
        workers.for_each(columns, |(mut out, v)| general_mat_mul(factor, &self.kernel, &v, 1.0, &mut out));
    }
}

/// K_ZZ, charged before it is evaluated.
fn kernel_matrix(problem: &Problem<'_>, noise_variance: f64) -> Result<Array2<f64>> {
    let operator = problem.operator();
    let (inputs, m) = (operator.inputs()?, operator.m());
    let Some(z) = inputs.basis else {
        operator.require_square()?;
        let mut kernel = Array2::zeros((m, m).f());
        operator.block(Select::All, Select::All, &mut kernel)?;
        symmetric::add_diagonal(-noise_variance, &mut kernel);
        return Ok(kernel);
    };
    operator.charge(m * m)?;
    let kernel = Kernel {
        family: inputs.family,
        signal_scale: inputs.signal_scale,
        length_scale: inputs.length_scale.to_vec(),
    };
    Ok(kernel.gram(&z, &z, problem.workers()))
}

/// The Cholesky factor of K + j I, 0 above the diagonal, and j: the first of 1, 10, 100 ... times `jitter` that suffices.
fn factorise(kernel: &Array2<f64>, jitter: f64, workers: Workers<'_>) -> Result<(Array2<f64>, f64)> {
    let m = kernel.nrows() as f64;
    let variance = kernel.diag().sum() / m;
    let mut tried = jitter * m * variance;
    loop {
        let mut factor = column_major(kernel);
        symmetric::add_diagonal(tried, &mut factor);
        match panels::cholesky(&mut factor, workers) {
            Ok(()) => {
                for (j, mut column) in factor.columns_mut().into_iter().enumerate() {
                    column.iter_mut().take(j).for_each(|entry| *entry = 0.0);
                }
                return Ok((factor, tried));
            }
            Err(Error::NotPositiveDefinite { .. }) if tried < MOST_JITTER * variance => {
                let least = f64::EPSILON * m * variance;
                tried = (10.0 * tried).max(least).min(MOST_JITTER * variance);
            }
            Err(error) => return Err(error),
        }
    }
}
