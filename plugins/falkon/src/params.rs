//! Parameters of FALKON.

gpbench_sdk::params! {
    /// Parameters of FALKON.
    pub struct FalkonParams {
        /// Number added to the diagonal of the inducing points' kernel matrix for the preconditioner, in units of their number
        /// and the signal variance; ten times that, and so on, while it has no Cholesky factor.
        pub jitter: f64 = 1e-13, in 0.0..=1e-3;
        /// Iterations after which to end; 0 leaves it to the tolerance and the budget.
        pub max_iterations: usize = 20;
    }
}
