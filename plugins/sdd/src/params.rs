//! Parameters of stochastic dual descent.

use gpbench_sdk::Precision;

gpbench_sdk::choices! {
    /// Point at which the gradient of a step is taken.
    pub enum GradientPoint {
        /// The point to which momentum would lead, alpha + momentum v: Nesterov's, as published.
        Lookahead = "lookahead",
        /// The iterate alpha: Polyak's heavy ball, as public code has it.
        HeavyBall = "heavy_ball",
    }
}

gpbench_sdk::params! {
    /// Parameters of stochastic dual descent.
    pub struct SddParams {
        /// Rows of a minibatch; all of them if there are fewer.
        pub batch_size: usize = 512, in 1..;
        /// Learning rate beta n, for gradients that are divided by the batch size; 0 takes the largest of
        /// 100, 30, 10, 3, 1, ..., 0.01 that does not diverge.
        pub learning_rate: f64 = 0.0, in 0.0..=1e6;
        /// Point at which the gradient is taken.
        pub gradient: GradientPoint = GradientPoint::Lookahead;
        /// Share of the velocity that is kept from one step to the next.
        pub momentum: f64 = 0.9, in 0.0..=0.9999;
        /// Weight of the newest iterate in the average that is returned; 1 averages nothing, 0 takes 100 / T
        /// for the T steps that iterations or epochs allow.
        pub averaging: f64 = 0.0, in 0.0..=1.0;
        /// Steps after which to give up; 0 leaves it to the tolerance and the budget.
        pub max_iterations: usize = 0;
        /// Precision of products with A; in `mixed` the residual is still that of double.
        pub precision: Precision = Precision::Double;
    }
}
