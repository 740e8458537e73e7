//! Parameters of conjugate gradients.

use gpbench_sdk::Precision;
use gpbench_sdk::precondition::{AUTOMATIC, Preconditioning, Rank};

gpbench_sdk::params! {
    /// Parameters of conjugate gradients.
    pub struct CgParams {
        /// Preconditioner.
        pub preconditioner: Preconditioning = Preconditioning::None;
        /// Rank of the preconditioner: columns of the kernel matrix, or of the Nystrom sketch; `auto`: as many as pay, for
        /// `rp_cholesky`.
        pub rank: Rank = Rank::Columns(100), in Rank::Columns(1)..=Rank::Columns(100_000);
        /// Share of the mean remaining diagonal of a partial Cholesky factor that is added to the noise variance; -1: 0.3
        /// for `rp_cholesky`, 0 for `pivoted_cholesky`.
        pub remainder: f64 = AUTOMATIC, in AUTOMATIC..=1000.0;
        /// Ritz vectors saved from one outer step of training to the next, which deflate its systems; 0: none.
        pub recycle: usize = 0, in 0..=1000;
        /// Iterations after which to give up; 0 leaves it to the tolerance and the budget.
        pub max_iterations: usize = 0;
        /// Precision of products with A; in `mixed` the residual is still that of double.
        pub precision: Precision = Precision::Double;
    }
}
