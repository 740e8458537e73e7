//! Parameters of randomly truncated conjugate gradients.

use gpbench_sdk::precondition::{AUTOMATIC, Preconditioning};

gpbench_sdk::params! {
    /// Parameters of randomly truncated conjugate gradients.
    pub struct RrCgParams {
        /// Rate lambda at which the probability of a number of iterations decays: P(J) ~ exp(-lambda J).
        pub lambda: f64 = 0.05, in 0.0..=100.0;
        /// Iterations that are always made; there are n at most.
        pub min_iterations: usize = 80, in 1..;
        /// Preconditioner.
        pub preconditioner: Preconditioning = Preconditioning::None;
        /// Rank of the preconditioner: columns of the kernel matrix, or of the Nystrom sketch.
        pub rank: usize = 100, in 1..=100_000;
        /// Share of the mean remaining diagonal of a partial Cholesky factor that is added to the noise variance; -1: 0.3
        /// for `rp_cholesky`, 0 for `pivoted_cholesky`.
        pub remainder: f64 = AUTOMATIC, in AUTOMATIC..=1000.0;
        /// Whether each residual is made orthogonal to all earlier ones, which are stored.
        pub reorthogonalise: bool = false;
    }
}
