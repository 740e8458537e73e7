//! Parameters of biased stochastic gradient descent.

use gpbench_sdk::Sampling;
use gpbench_sdk::finite::Options;
use gpbench_sdk::optimise::Method;

gpbench_sdk::params! {
    /// Parameters of biased stochastic gradient descent.
    pub struct BsgdParams {
        /// Rows of a minibatch; all of them if there are fewer.
        pub batch: usize = 32, in 1..;
        /// Optimiser.
        pub optimiser: Method = Method::AdaDelta;
        /// Learning rate.
        pub learning_rate: f64 = 0.3, in 0.0..=1e6;
        /// Least noise variance.
        pub noise_floor: f64 = 1e-4, in 1e-12..=1e6;
        /// Order of the rows of minibatches.
        pub sampling: Sampling = Sampling::Shuffled;
    }
}

impl BsgdParams {
    /// Options of a process with finitely many features.
    pub(crate) fn options(&self) -> Options {
        Options { features: 0, has_weights: false, noise_floor: self.noise_floor }
    }
}
