//! Parameters of sparse variational Gaussian processes.

use gpbench_sdk::Sampling;
use gpbench_sdk::optimise::{Method, Milestones, Transform};

gpbench_sdk::choices! {
    /// Parameters that are trained.
    pub enum Train {
        /// The distribution, hyperparameters, inducing points and network, step by step.
        All = "all",
        /// The distribution alone: a step is a pass over all rows, and puts it at its optimum.
        Distribution = "distribution",
    }
}

gpbench_sdk::params! {
    /// Parameters of sparse variational Gaussian processes.
    pub struct SvgpParams {
        /// Rows of a minibatch; all of them if there are fewer.
        pub batch: usize = 1024, in 1..=65_536;
        /// Optimiser of all parameters.
        pub optimiser: Method = Method::Adam;
        /// Learning rate.
        pub learning_rate: f64 = 0.01, in 0.0..=1e6;
        /// Shares of the passes after which the learning rate is multiplied by `factor`: numbers between 0 and 1, with
        /// spaces between them. Empty: the learning rate is constant.
        pub milestones: Milestones = Milestones::from([0.5, 0.7, 0.9]);
        /// Factor of the learning rate at each milestone.
        pub factor: f64 = 0.1, in 0.0..=1.0;
        /// Transform from free parameters to scales.
        pub transform: Transform = Transform::Scale;
        /// Least noise variance.
        pub noise_floor: f64 = 1e-4, in 1e-12..=1e6;
        /// Number added to the diagonal of the inducing points' covariance; ten times that, up to 1e-3, while it is not
        /// positive definite.
        pub jitter: f64 = 1e-6, in 1e-12..=1e-3;
        /// Parameters that are trained: `all`, or for given hyperparameters and inducing points only the `distribution`, which a pass
        /// over all rows puts at its optimum.
        pub train: Train = Train::All;
        /// Whether the inducing points move.
        pub move_points: bool = true;
        /// Order of the rows of minibatches.
        pub sampling: Sampling = Sampling::Shuffled;
    }
}
