//! Parameters of the learner.

gpbench_sdk::params! {
    /// Parameters of the learner.
    pub struct MinibatchGpParams {
        /// Rows in a batch.
        pub batch: usize = 128, in 1..;
        /// Learning rate of Adam.
        pub learning_rate: f64 = 0.05, in 0.0..;
    }
}
