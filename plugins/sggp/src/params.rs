//! Parameters of descent on groups of neighbours.

use gpbench_sdk::optimise::{Method, Milestones, Transform};

gpbench_sdk::choices! {
    /// Choice of the rows of a group.
    pub enum Grouping {
        /// Its nearest neighbours.
        Neighbours = "neighbours",
        /// Rows drawn uniformly, anew at each step.
        Uniform = "uniform",
    }
}

gpbench_sdk::params! {
    /// Parameters of descent on groups of neighbours.
    pub struct SgGpParams {
        /// Rows of a group, the one that it belongs to included; all of them if there are fewer.
        pub neighbours: usize = 16, in 1..=1024;
        /// Groups of a step; all of them if there are fewer.
        pub batch: usize = 1024, in 1..;
        /// Choice of the rows of a group.
        pub grouping: Grouping = Grouping::Neighbours;
        /// Passes after which neighbours are found anew, at the length scales of then.
        pub neighbours_every: usize = 1, in 1..;
        /// Whether the derivative by the signal scale is multiplied by k / log k, with k rows in a group. Adam
        /// and AdaDelta follow almost the same path with it and without it.
        pub signal_factor: bool = true;
        /// Optimiser.
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
