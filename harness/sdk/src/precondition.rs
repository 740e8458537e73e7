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
//! A solver offers them by three parameters, `preconditioner: Preconditioning`, `rank: Rank` (or `usize`) and `remainder: f64`,
//! and calls [`Preconditioning::build`] in `prepare`. All dense work is split into pieces, with single-threaded calls of
//! BLAS, whose sizes depend on the shapes alone, so that results do not depend on the number of threads.
//!
//! # What the factor leaves out
//!
//! A partial Cholesky factor leaves a remainder E = K - L L^T, positive semi-definite, with a known trace n tau. The
//! inverse of L L^T + s^2 I ignores it: where L L^T has nothing, A has the eigenvalues s^2 + e of E's eigenvalues e,
//! and P A has 1 + e / s^2. With little noise their mean, 1 + tau / s^2, is far above the eigenvalues near 1 where
//! L L^T dominates, and CG has to find both groups. With s^2 + c tau in the place of s^2 the groups meet:
//!
//! > P = (L L^T + (s^2 + c tau) I)^-1, tau = tr(K - L L^T) / n.
//!
//! The trace is used since it is the sum of the eigenvalues: with c = n / (n - k), close to 1, those of P A have a mean of 1
//! outside of L's range too, which makes Kaporin's number (tr(P A) / n)^n / det(P A), a bound on the convergence of CG,
//! smallest among all shifts. (The largest e bounds the condition number, but few eigenvalues are near it.) Most e are
//! below their mean, which a few large ones raise, so that a smaller c serves as well: on 4000 rows of pol, 60 steps
//! of training take 576, 444, 423, 434 and 482 iterations with c = 0, 0.1, 0.3, 1 and 3. As the rank grows to n, tau
//! falls to 0 and P to A's inverse; with rank 0, P is a multiple of
//! the identity, with or without tau.
//!
//! `nystrom` needs no such term: its P treats what U leaves out as if it had the least eigenvalue found,
//! lambda_k + s^2.

mod low_rank;
mod nystrom;
mod orthonormal;
mod pivoted_cholesky;
mod products;
mod rank;
mod rp_cholesky;
mod tall_tiles;

pub use low_rank::Preconditioner;
pub use nystrom::Nystrom;
pub use pivoted_cholesky::PivotedCholesky;
pub use rank::Rank;

use ndarray::{Array2, ArrayRef2};

use crate::{Error, LogLevel, Problem, Result, Workers};

/// Value of the parameter `remainder` for the preconditioner's own choice: 0.3 for `rp_cholesky`, 0 for
/// `pivoted_cholesky`, as published.
pub const AUTOMATIC: f64 = -1.0;

/// A symmetric positive definite approximation M of A, known through products with M^-1.
pub trait Precondition: std::fmt::Debug {
    /// M^-1 V for V of n rows.
    fn apply(&self, v: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64>;

    /// Relative rounding error of M^-1 V.
    fn rounding(&self) -> f64 {
        f64::EPSILON
    }
}

impl Precondition for Preconditioner {
    fn apply(&self, v: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        Preconditioner::apply(self, v, workers)
    }

    fn rounding(&self) -> f64 {
        Preconditioner::rounding(self)
    }
}

/// Rows of a tile of a tall matrix.
const ROWS: usize = 256;

crate::choices! {
    /// Preconditioners of residuals.
    pub enum Preconditioning {
        /// No preconditioner.
        None = "none",
        /// A partial Cholesky factor of the kernel matrix, largest remaining diagonal first, plus noise.
        PivotedCholesky = "pivoted_cholesky",
        /// A partial Cholesky factor of the kernel matrix with randomly drawn pivots, plus noise and a share of
        /// what the factor leaves out.
        RpCholesky = "rp_cholesky",
        /// A randomised Nystrom approximation of the kernel matrix, plus noise.
        Nystrom = "nystrom",
    }
}

impl Preconditioning {
    /// Refuses a rank that this preconditioner cannot choose.
    pub fn check(self, rank: Rank) -> Result<()> {
        match (self, rank) {
            (Preconditioning::PivotedCholesky | Preconditioning::Nystrom, Rank::Auto) => {
                let text = "rank = \"auto\" is for preconditioner = \"rp_cholesky\": choose that, or a number of columns";
                Err(Error::InvalidArgument(text.into()))
            }
            _ => Ok(()),
        }
    }

    /// Builds a preconditioner of at most `rank` columns; none for `None`.
    ///
    /// `remainder` is the share c of the mean remaining diagonal that partial Cholesky factors add to the noise
    /// variance, or [`AUTOMATIC`]; the others do not use it.
    ///
    /// Takes the noise from the operator's inputs, random numbers from the problem's seed, and charges
    /// the kernel entries used. Fails without noise, and where K has a negative diagonal entry or is not
    /// finite.
    pub fn build(
        self,
        problem: &Problem<'_>,
        rank: impl Into<Rank>,
        remainder: f64,
    ) -> Result<Option<Preconditioner>> {
        let rank = rank.into();
        self.check(rank)?;
        if self == Preconditioning::None {
            return Ok(None);
        }
        let (operator, workers) = (problem.operator(), problem.workers());
        let noise_scale = operator.inputs()?.noise_scale;
        let noise_variance = noise_scale * noise_scale;
        let wanted = rank.most(operator.n());
        let preconditioner = match self {
            Preconditioning::Nystrom => {
                Nystrom::new(operator, noise_variance, wanted, problem.seed(), workers)?
                    .preconditioner(noise_scale, workers)?
            }
            _ => {
                let cholesky = match (self, rank) {
                    (Preconditioning::RpCholesky, Rank::Auto) => {
                        PivotedCholesky::automatic(problem, noise_variance)?
                    }
                    (Preconditioning::RpCholesky, Rank::Columns(_)) => {
                        PivotedCholesky::random(operator, noise_variance, wanted, problem.seed(), workers)?
                    }
                    _ => PivotedCholesky::new(operator, noise_variance, wanted)?,
                };
                if rank != Rank::Auto && cholesky.pivots.len() < wanted {
                    let rank = cholesky.pivots.len();
                    let line = format!("the kernel matrix is of rank {rank} to working precision");
                    problem.log(LogLevel::Info, &line);
                }
                low_rank::check_noise(noise_scale)?;
                let left = cholesky.remaining_trace.last().map_or(0.0, |trace| trace / operator.n() as f64);
                let shift = noise_variance + self.remainder(remainder) * left;
                Preconditioner::low_rank_plus_noise(cholesky.factor, shift.sqrt(), workers)?
            }
        };
        Ok(Some(preconditioner))
    }

    /// c, for a value of the parameter.
    fn remainder(self, parameter: f64) -> f64 {
        match self {
            _ if parameter >= 0.0 => parameter,
            Preconditioning::RpCholesky => 0.3,
            _ => 0.0,
        }
    }

    /// Bytes needed at most, during the setup, for n rows.
    pub fn estimate(self, n: usize, rank: impl Into<Rank>) -> f64 {
        let (n, k) = (n as f64, rank.into().most(n) as f64);
        8.0 * match self {
            Preconditioning::None => 0.0,
            // The factor, a copy of its columns if they are fewer than asked for, and k x k matrices.
            Preconditioning::PivotedCholesky | Preconditioning::RpCholesky => (2.0 * n + 3.0 * k) * k,
            // Omega and K Omega, and k x k matrices for the eigenvalues.
            Preconditioning::Nystrom => (2.0 * n + 6.0 * k) * k,
        }
    }
}
