//! Parameters of sparse Gaussian process regression.

use gpbench_sdk::optimise::Transform;

gpbench_sdk::choices! {
    /// How inducing points are chosen.
    pub enum PointChoice {
        /// Greedily from the training rows, again after each optimisation of the scales.
        Greedy = "greedy",
        /// Greedily once; then they move with the scales.
        Joint = "joint",
    }
}

gpbench_sdk::params! {
    /// Parameters of sparse Gaussian process regression.
    pub struct SgprParams {
        /// Inducing points; all rows if there are fewer.
        pub points: usize = 512, in 1..=65_536;
        /// Choice of the inducing points: `greedy` alternates between choosing rows and training the scales; with `joint` the
        /// points move together with the scales.
        pub select: PointChoice = PointChoice::Greedy;
        /// Number added to the diagonal of the inducing points' covariance, in units of the signal variance.
        pub jitter: f64 = 1e-6, in 1e-12..=1e-2;
        /// Relative gain of a step of L-BFGS that ends an optimisation.
        pub relative_gain: f64 = 1e-6, in 0.0..=1.0;
        /// Transform from free parameters to scales.
        pub transform: Transform = Transform::Logarithm;
    }
}
