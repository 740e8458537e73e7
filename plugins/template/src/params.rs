//! Parameters of `steepest-descent`.

gpbench_sdk::params! {
    /// Parameters of `steepest-descent`. Their texts are shown by `gpbench list solvers --verbose`.
    pub struct SteepestDescentParams {
        /// Length of a step, as a share of the one to the minimum along the residual.
        pub relaxation: f64 = 0.9, in 0.01..=1.99;
        /// Iterations after which to give up; 0 leaves it to the tolerance and the budget.
        pub max_iterations: usize = 0;
    }
}
