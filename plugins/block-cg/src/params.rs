//! Parameters of block conjugate gradients.

use gpbench_sdk::Precision;
use gpbench_sdk::precondition::{AUTOMATIC, Preconditioning, Rank};

gpbench_sdk::params! {
    /// Parameters of block conjugate gradients.
    pub struct BlockCgParams {
        /// Preconditioner.
        pub preconditioner: Preconditioning = Preconditioning::RpCholesky;
        /// Rank of the preconditioner, or 0 for a tenth of the rows and at most 1000; `auto`: as many columns as pay, for
        /// `rp_cholesky`.
        pub rank: Rank = Rank::Columns(0), in Rank::Columns(0)..=Rank::Columns(100_000);
        /// Share of the mean remaining diagonal of a partial Cholesky factor that is added to the noise variance; -1: 0.3
        /// for `rp_cholesky`, 0 for `pivoted_cholesky`.
        pub remainder: f64 = AUTOMATIC, in AUTOMATIC..=1000.0;
        /// Iterations after which to give up; 0 leaves it to the tolerance and the budget.
        pub max_iterations: usize = 0;
        /// Precision of products with A; in `mixed` the residual is still that of double.
        pub precision: Precision = Precision::Double;
    }
}

impl BlockCgParams {
    /// Rank of the preconditioner for n rows.
    pub(crate) fn rank(&self, n: usize) -> Rank {
        match self.rank {
            Rank::Columns(0) => Rank::Columns(n.div_ceil(10).min(1000)),
            rank => rank,
        }
    }
}
