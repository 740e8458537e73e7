//! Parameters of conjugate gradients preconditioned by a Cholesky factor.

use gpbench_sdk::Precision;

gpbench_sdk::params! {
    /// Parameters of conjugate gradients preconditioned by a Cholesky factor.
    pub struct CholeskyMixedParams {
        /// Outer steps of training that share a factor; 0 leaves it to the cost of iterations.
        pub steps_per_factor: usize = 0;
        /// Iterations after which to give up; 0 leaves it to the tolerance and the budget.
        pub max_iterations: usize = 0;
        /// Precision of products with A; in `mixed` the residual is still that of double.
        pub precision: Precision = Precision::Double;
    }
}
