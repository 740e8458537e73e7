//! Parameters of stochastic gradient descent with random features.

use gpbench_sdk::Precision;

gpbench_sdk::choices! {
    /// Factor of the objective before its gradient is clipped. Without clipping it only scales the learning rate.
    pub enum ObjectiveScale {
        /// 1: the objective as printed.
        Printed = "printed",
        /// noise_scale^2: a squared error without weight.
        Noise = "noise",
        /// noise_scale^2 / (2 n): half a mean squared error.
        Mean = "mean",
    }
}

gpbench_sdk::choices! {
    /// The objective of pathwise samples.
    pub enum SampleObjective {
        /// Equation (9): the noise is a part of the targets.
        Loss1 = "loss1",
        /// Equation (10): the noise is a part of the regulariser.
        Loss2 = "loss2",
    }
}

gpbench_sdk::choices! {
    /// Computation of the solution from the iterates.
    pub enum Averaging {
        /// The arithmetic mean of all iterates after the first step.
        Polyak = "polyak",
        /// A mean in which an iterate's weight falls geometrically with its age.
        Geometric = "geometric",
        /// The last iterate.
        None = "none",
    }
}

gpbench_sdk::choices! {
    /// Columns over which the norm for clipping is taken.
    pub enum ClipScope {
        /// Each right-hand side by itself.
        Column = "column",
        /// All right-hand sides together.
        All = "all",
    }
}

gpbench_sdk::params! {
    /// Parameters of stochastic gradient descent with random features.
    pub struct SgdRffParams {
        /// Rows of a minibatch; all of them if there are fewer.
        pub batch_size: usize = 512, in 1..;
        /// Random features of the regulariser, fresh at each step; an even number, sines and cosines together.
        pub features: usize = 100, in 2..=1_000_000;
        /// Learning rate of the targets.
        pub learning_rate: f64 = 0.5, in 1e-12..=1e6;
        /// Learning rate of the probes.
        pub learning_rate_samples: f64 = 0.1, in 1e-12..=1e6;
        /// Nesterov momentum.
        pub momentum: f64 = 0.9, in 0.0..=0.9999;
        /// Computation of the solution from the iterates.
        pub averaging: Averaging = Averaging::Geometric;
        /// Weight of the newest iterate in a geometric mean.
        pub averaging_weight: f64 = 1e-3, in 1e-9..=1.0;
        /// Largest norm of a gradient, longer ones being shortened to it; 0 leaves them as they are.
        pub clip: f64 = 0.1, in 0.0..=1e12;
        /// Columns over which that norm is taken.
        pub clip_scope: ClipScope = ClipScope::Column;
        /// Factor of the objective before clipping.
        pub scale: ObjectiveScale = ObjectiveScale::Mean;
        /// Objective of pathwise samples.
        pub objective: SampleObjective = SampleObjective::Loss2;
        /// Random rows from which the variance of a gradient from one row is estimated for the trace, at
        /// least two; 0 leaves it out.
        pub gradient_variance: usize = 0;
        /// Steps after which to give up; 0 leaves it to the tolerance and the budget.
        pub max_iterations: usize = 100_000;
        /// Precision of kernel entries; the error of single precision is small beside that of minibatches.
        pub precision: Precision = Precision::Double;
    }
}
