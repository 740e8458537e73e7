//! Parameters of conjugate gradients.

gpbench_sdk::choices! {
    /// How the residual is preconditioned.
    pub enum Preconditioning {
        /// Not at all.
        None = "none",
        /// By a partial Cholesky factor of the kernel matrix, plus noise.
        PivotedCholesky = "pivoted_cholesky",
    }
}

gpbench_sdk::params! {
    /// Parameters of conjugate gradients.
    pub struct CgParams {
        /// Preconditioner.
        pub preconditioner: Preconditioning = Preconditioning::None;
        /// Rank of the pivoted Cholesky preconditioner, in columns of the kernel matrix.
        pub rank: usize = 100, in 1..=100_000;
        /// Iterations after which to give up; 0 leaves it to the tolerance and the budget.
        pub max_iterations: usize = 0;
    }
}
