//! Parameters of `minibatch-gp`.

gpbench_sdk::params! {
    /// Parameters of `minibatch-gp`. Their texts are shown by `gpbench list solvers --verbose`.
    pub struct MinibatchGpParams {
        /// Rows in a batch.
        pub batch: usize = 128, in 1..;
        /// Learning rate of Adam.
        pub learning_rate: f64 = 0.05, in 0.0..;
    }
}
