//! Parameters of stochastic compositional gradient descent.

use gpbench_sdk::Sampling;
use gpbench_sdk::finite::Options;
use gpbench_sdk::optimise::Method;

gpbench_sdk::choices! {
    /// Order of the average and the step.
    pub enum Order {
        /// The average: the step uses this batch's part too.
        AverageFirst = "average-first",
        /// The step, as the paper prints it: the average is one batch behind.
        StepFirst = "step-first",
    }
}

gpbench_sdk::params! {
    /// Parameters of stochastic compositional gradient descent.
    pub struct ScgdParams {
        /// Rows of a minibatch; all of them if there are fewer.
        pub batch: usize = 32, in 1..;
        /// Optimiser.
        pub optimiser: Method = Method::AdaDelta;
        /// Learning rate.
        pub learning_rate: f64 = 0.3, in 0.0..=1e6;
        /// Weight b_t of the newest batch in the average of F.
        pub average: f64 = 0.9, in 1e-9..=1.0;
        /// Falling weights and steps in place of `average`: step t has the weight t^(-1/2), and its learning rate is
        /// multiplied by t^(-3/4).
        pub decay: bool = false;
        /// Order of the average and the step.
        pub order: Order = Order::AverageFirst;
        /// Least noise variance.
        pub noise_floor: f64 = 1e-4, in 1e-12..=1e6;
        /// Order of the rows of minibatches.
        pub sampling: Sampling = Sampling::Shuffled;
        /// Random features of an RBF kernel on the inputs, sines and cosines together; a network says how many itself.
        pub features: usize = 1000, in 2..=100_000;
    }
}

/// Weight of a batch, as a share of the newest one's, at which it no longer counts if the squares of all features sum
/// to less than a million times the noise variance.
const FORGOTTEN: f64 = 1e-20;

impl ScgdParams {
    /// Weight in the average and factor of the learning rate at step t, counted from 1.
    pub(crate) fn schedule(&self, step: u64) -> (f64, f64) {
        match self.decay {
            true => ((step as f64).powf(-0.5), (step as f64).powf(-0.75)),
            false => (self.average, 1.0),
        }
    }

    /// The most rows of recent batches that an average of this order keeps, so that it needs no factor of its own:
    /// three quarters of the order. `None` if that is too few for batches of `batch` rows, or they are of no use.
    pub(crate) fn recent_rows(&self, batch: usize, order: usize) -> Option<usize> {
        if self.decay || self.order == Order::StepFirst {
            return None;
        }
        let batches = (FORGOTTEN.ln() / (1.0 - self.average).ln()).ceil().max(1.0);
        let most = order / 4 * 3;
        (batches * batch as f64 <= most as f64).then_some(most)
    }

    /// Options of the process.
    pub(crate) fn options(&self) -> Options {
        Options { features: self.features, has_weights: true, noise_floor: self.noise_floor }
    }
}
