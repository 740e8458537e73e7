//! Randomised Nystrom approximation of a kernel matrix.

use ndarray::{Array1, Array2, Axis, ShapeBuilder};
use rand_distr::{Distribution, StandardNormal};

use super::Preconditioner;
use super::low_rank::check_noise;
use super::orthonormal::{LOSS, orthonormalise};
use super::products::{divide_by_transposed, multiply, multiply_transposed};
use crate::{Error, Operator, Purpose, Result, Workers, lapack};

/// K ~ U diag(lambda) U^T with orthonormal U, where K = A - noise_scale^2 I.
///
/// Frangella, Tropp and Udell 2023, *Randomized Nystrom Preconditioning* (arXiv 2110.02820), Algorithm 2.1:
/// K Omega (Omega^T K Omega)^-1 Omega^T K for a Gaussian Omega with orthonormalised columns, for K with a
/// small shift, so that the inverse exists to working precision. The error is positive semi-definite, up to the
/// shift.
#[derive(Debug, Clone)]
pub struct Nystrom {
    /// U, n x k, column-major.
    pub vectors: Array2<f64>,
    /// lambda, ascending, not negative.
    pub values: Array1<f64>,
}

/// Largest number of increases of the shift until Omega^T K Omega has a Cholesky factor.
const INCREASES: i32 = 6;

impl Nystrom {
    /// An approximation of rank `rank`, or n if that is less. Takes one product with A, an epoch, and
    /// about 8 n k^2 operations beside it.
    pub fn new(
        operator: Operator<'_>,
        noise_variance: f64,
        rank: usize,
        seed: u64,
        workers: Workers<'_>,
    ) -> Result<Nystrom> {
        let n = operator.n();
        Nystrom::of_sketch(operator, noise_variance, gaussian(n, rank.min(n), seed, workers), workers)
    }

    /// An approximation from a column-major Omega, n x k, of full rank, which is orthonormalised.
    pub fn of_sketch(
        operator: Operator<'_>,
        noise_variance: f64,
        mut omega: Array2<f64>,
        workers: Workers<'_>,
    ) -> Result<Nystrom> {
        let n = operator.n();
        orthonormalise(&mut omega, LOSS, workers)?;
        let mut y = Array2::zeros(omega.dim().f());
        operator.apply(&omega, &mut y)?;
        y.scaled_add(-noise_variance, &omega);
        let size = y.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        if !size.is_finite() {
            return Err(Error::new("the kernel matrix is not finite"));
        }
        let (mut shift, mut raise) = (0.0, (n as f64).sqrt() * f64::EPSILON * size);
        for attempt in 0.. {
            y.scaled_add(raise, &omega);
            shift += raise;
            // Omega^T (K + shift I) Omega = C C^T
            let mut core = multiply_transposed(&omega, &y, workers);
            match lapack::cholesky(&mut core) {
                Ok(()) => divide_by_transposed(&mut y, &core, workers)?,
                Err(error) if attempt == INCREASES => return Err(error.into()),
                Err(_) => {
                    raise = 9.0 * shift;
                    continue;
                }
            }
            break;
        }
        drop(omega);
        // B = Q R, R R^T = W diag(lambda + shift) W^T, U = Q W
        let triangles = orthonormalise(&mut y, 0.0, workers)?;
        let k = y.ncols();
        let transposed = triangles.iter().rev().fold(Array2::eye(k), |product: Array2<f64>, lower| {
            let lower = Array2::from_shape_fn((k, k).f(), |(i, j)| if i >= j { lower[[i, j]] } else { 0.0 });
            multiply(&product, &lower, workers)
        });
        let mut square = multiply_transposed(&transposed, &transposed, workers);
        let values = lapack::symmetric_eigen(&mut square)?.mapv(|value| (value - shift).max(0.0));
        Ok(Nystrom { vectors: multiply(&y, &square, workers), values })
    }

    /// P^-1 = (lambda_1 + s^2) U (diag(lambda) + s^2)^-1 U^T + I - U U^T with lambda_1 the least eigenvalue,
    /// for the noise scale s > 0: equation (1.3) there, whose P is this P^-1's inverse.
    pub fn preconditioner(self, noise_scale: f64, workers: Workers<'_>) -> Result<Preconditioner> {
        check_noise(noise_scale)?;
        let least = self.values.first().copied().unwrap_or(0.0);
        let largest = self.values.last().copied().unwrap_or(0.0);
        let bound = (least + noise_scale.powi(2)) / (largest + noise_scale.powi(2));
        let mut basis = self.vectors;
        for (mut column, value) in basis.columns_mut().into_iter().zip(self.values) {
            // 1 - (lambda_1 + s^2) / (lambda + s^2), without cancellation
            column *= ((value - least) / (value + noise_scale * noise_scale)).sqrt();
        }
        Ok(Preconditioner::identity_minus(basis, bound, workers))
    }
}

/// Independent standard normal numbers, n x k, with a random stream for each column.
fn gaussian(n: usize, k: usize, seed: u64, workers: Workers<'_>) -> Array2<f64> {
    let mut omega = Array2::zeros((n, k).f());
    workers.for_each(omega.axis_iter_mut(Axis(1)).enumerate(), |(j, mut column)| {
        let mut rng = Purpose::Sketch.generator(seed, j as u64);
        column.iter_mut().for_each(|entry| *entry = StandardNormal.sample(&mut rng));
    });
    omega
}
