//! Parameters of stochastic minimax.

use gpbench_sdk::Sampling;
use gpbench_sdk::finite::Options;
use gpbench_sdk::optimise::Method;

gpbench_sdk::params! {
    /// Parameters of stochastic minimax.
    pub struct MinimaxParams {
        /// Rows of a minibatch, two of which make a step; all of them if there are fewer.
        pub batch: usize = 32, in 1..;
        /// Optimiser of the parameters, of A and of B.
        pub optimiser: Method = Method::AdaDelta;
        /// Learning rate of all three.
        pub learning_rate: f64 = 1.0, in 0.0..=1e6;
        /// Weight of the penalty |A - F| / |A|.
        pub mu: f64 = 1.0, in 0.0..=1e12;
        /// Least noise variance.
        pub noise_floor: f64 = 1e-4, in 1e-12..=1e6;
        /// Order of the rows of minibatches.
        pub sampling: Sampling = Sampling::Shuffled;
        /// Random features of an RBF kernel on the inputs, sines and cosines together; a network says how many itself.
        pub features: usize = 1000, in 2..=100_000;
        /// Passes between two evaluations of the penalty for the trace, each of which computes F from all rows; 0: none.
        pub monitor: usize = 1;
    }
}

impl MinimaxParams {
    /// Options of the process.
    pub(crate) fn options(&self) -> Options {
        Options { features: self.features, has_weights: true, noise_floor: self.noise_floor }
    }
}
