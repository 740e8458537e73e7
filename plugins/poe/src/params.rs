//! Parameters of products of experts.

use gpbench_sdk::optimise::{Method, Milestones, Transform};

gpbench_sdk::choices! {
    /// Variances of the experts that are combined.
    pub enum Combination {
        /// Variances of y, with each expert's noise.
        Observed = "observed",
        /// Variances of the latent function; then the mean of the noise variances is added.
        Latent = "latent",
    }
}

gpbench_sdk::params! {
    /// Parameters of products of experts.
    pub struct PoeParams {
        /// Rows of an expert; all of them if there are fewer.
        pub points: usize = 1024, in 1..=20_000;
        /// Variances of the experts that are combined.
        pub combine: Combination = Combination::Observed;
        /// Optimiser of each expert.
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
    }
}
