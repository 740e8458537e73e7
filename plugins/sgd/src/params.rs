//! Parameters of stochastic gradient descent.

use gpbench_sdk::Precision;

gpbench_sdk::params! {
    /// Parameters of stochastic gradient descent.
    pub struct SgdParams {
        /// Rows of a minibatch; all of them if there are fewer.
        pub batch_size: usize = 500, in 1..;
        /// Learning rate, for gradients that are divided by the batch size; 0 takes one from an estimate of A's
        /// largest eigenvalue.
        pub learning_rate: f64 = 0.0, in 0.0..=1e6;
        /// Share of the velocity that is kept from one step to the next.
        pub momentum: f64 = 0.9, in 0.0..=0.9999;
        /// Steps after which to give up; 0 leaves it to the tolerance and the budget.
        pub max_iterations: usize = 0;
        /// Precision of products with A; in `mixed` the residual is still that of double.
        pub precision: Precision = Precision::Double;
    }
}
