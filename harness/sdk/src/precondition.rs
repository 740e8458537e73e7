//! Preconditioners of A = K + s^2 I for Krylov methods, by a low-rank approximation of K.
//!
//! All have the form P = c (I - V V^T) with V of k columns, so that applying them takes one product with V and one
//! with V^T. They differ in the approximation:
//!
//! | [`Preconditioning`] | approximation | kernel entries |
//! |---|---|---|
//! | `pivoted_cholesky` | partial Cholesky factor, largest remaining diagonal first | k n |
//! | `rp_cholesky` | partial Cholesky factor, pivots drawn by the remaining diagonal | k n, and about 1 % more |
//! | `nystrom` | K Omega (Omega^T K Omega)^-1 Omega^T K for a Gaussian Omega | n^2, whatever k |
//!
//! A solver offers them by two parameters, `preconditioner: Preconditioning` and `rank: usize`, and calls
//! [`Preconditioning::build`] in `prepare`. All dense work is split into pieces of fixed size, with
//! one single-threaded BLAS call each, so that results do not depend on the number of threads.

mod low_rank;
mod nystrom;
mod orthonormal;
mod pivoted_cholesky;
mod rp_cholesky;

pub use low_rank::Preconditioner;
pub use nystrom::Nystrom;
pub use pivoted_cholesky::PivotedCholesky;

use ndarray::{Array2, ArrayRef2};

use crate::{Level, Problem, Result, Workers};

/// A symmetric positive definite approximation M of A, known through products with M^-1.
pub trait Precondition: std::fmt::Debug {
    /// M^-1 V for V of n rows.
    fn apply(&self, v: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64>;
}

impl Precondition for Preconditioner {
    fn apply(&self, v: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        Preconditioner::apply(self, v, workers)
    }
}

/// Rows of a tile of a tall matrix.
const ROWS: usize = 256;

crate::choices! {
    /// How residuals are preconditioned.
    pub enum Preconditioning {
        /// Not at all.
        None = "none",
        /// By a partial Cholesky factor of the kernel matrix, largest remaining diagonal first, plus noise.
        PivotedCholesky = "pivoted_cholesky",
        /// By a partial Cholesky factor of the kernel matrix with randomly drawn pivots, plus noise.
        RpCholesky = "rp_cholesky",
        /// By a randomised Nystrom approximation of the kernel matrix, plus noise.
        Nystrom = "nystrom",
    }
}

impl Preconditioning {
    /// Builds a preconditioner of at most `rank` columns; none for `None`.
    ///
    /// Takes the noise from the operator's inputs, random numbers from the problem's seed, and charges
    /// the kernel entries used. Fails without noise, and where K has a negative diagonal entry or is not
    /// finite.
    pub fn build(self, problem: &Problem<'_>, rank: usize) -> Result<Option<Preconditioner>> {
        if self == Preconditioning::None {
            return Ok(None);
        }
        let (operator, workers) = (problem.operator(), problem.workers());
        let noise_scale = operator.inputs()?.noise_scale;
        let noise_variance = noise_scale * noise_scale;
        let wanted = rank.min(operator.n());
        let preconditioner = match self {
            Preconditioning::Nystrom => {
                Nystrom::new(operator, noise_variance, wanted, problem.seed(), workers)?
                    .preconditioner(noise_scale)?
            }
            _ => {
                let cholesky = match self {
                    Preconditioning::RpCholesky => {
                        PivotedCholesky::random(operator, noise_variance, wanted, problem.seed(), workers)?
                    }
                    _ => PivotedCholesky::new(operator, noise_variance, wanted)?,
                };
                if cholesky.pivots.len() < wanted {
                    let rank = cholesky.pivots.len();
                    let line = format!("the kernel matrix is of rank {rank} to working precision");
                    problem.log(Level::Info, &line);
                }
                Preconditioner::low_rank_plus_noise(cholesky.factor, noise_scale, workers)?
            }
        };
        Ok(Some(preconditioner))
    }

    /// Bytes needed at most, during the setup, for n rows.
    pub fn estimate(self, n: usize, rank: usize) -> f64 {
        let (n, k) = (n as f64, rank.min(n) as f64);
        8.0 * match self {
            Preconditioning::None => 0.0,
            // The factor and its copy with the noise below, and two triangles.
            Preconditioning::PivotedCholesky | Preconditioning::RpCholesky => (2.0 * n + 3.0 * k) * k,
            // Omega and K Omega, and k x k matrices for the eigenvalues.
            Preconditioning::Nystrom => (2.0 * n + 6.0 * k) * k,
        }
    }
}
