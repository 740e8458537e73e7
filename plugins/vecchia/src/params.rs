//! Parameters of Vecchia's approximation.

use gpbench_sdk::optimise::{Milestones, Transform};

gpbench_sdk::choices! {
    /// Order of the rows.
    pub enum RowOrder {
        /// The row nearest to the mean, and then each time the row that is farthest from all before it.
        MaxMin = "max-min",
        /// A random permutation.
        Random = "random",
    }
}

gpbench_sdk::choices! {
    /// How the likelihood is maximised.
    pub enum Maximiser {
        /// L-BFGS on the likelihood of all rows.
        Lbfgs = "lbfgs",
        /// Adam on minibatches of rows.
        Adam = "adam",
    }
}

gpbench_sdk::choices! {
    /// What rows are predicted from.
    pub enum PredictFrom {
        /// Their nearest training rows.
        Neighbours = "neighbours",
        /// All training rows, by the exact process.
        Exact = "exact",
    }
}

gpbench_sdk::params! {
    /// Parameters of Vecchia's approximation.
    pub struct VecchiaParams {
        /// Earlier rows that a row is conditioned on, all of them if there are fewer. With 0, rows are independent
        /// given the inducing points.
        pub neighbours: usize = 30, in 0..=1024;
        /// Training rows that a row is predicted from; 0: twice `neighbours`.
        pub prediction_neighbours: usize = 0, in 0..=4096;
        /// What rows are predicted from: `neighbours`, or all rows by the `exact` process.
        pub predict: PredictFrom = PredictFrom::Neighbours;
        /// Order of the rows. `max-min` computes the distances of all pairs.
        pub order: RowOrder = RowOrder::MaxMin;
        /// Evaluations of the likelihood (Adam: passes) after which neighbours are found anew, at the scales of then.
        pub neighbours_every: usize = 10, in 1..;
        /// Inducing points, rows that the seeding of k-means++ chooses. They explain a part of the covariance, and
        /// the neighbours the rest (VIF). 0: none.
        pub inducing: usize = 0, in 0..=8192;
        /// Whether the inducing points move with the scales.
        pub move_points: bool = false;
        /// Number added to the diagonal of the inducing points' covariance, as a share of the signal variance.
        pub jitter: f64 = 1e-6, in 0.0..=1e-2;
        /// How the likelihood is maximised: `lbfgs` on all rows, or `adam` on minibatches, which has no inducing
        /// points.
        pub optimiser: Maximiser = Maximiser::Lbfgs;
        /// Rows of a minibatch of Adam; all of them if there are fewer.
        pub batch: usize = 1024, in 1..;
        /// Learning rate of Adam.
        pub learning_rate: f64 = 0.03, in 0.0..=1e6;
        /// Shares of the passes after which the learning rate is multiplied by `factor`: numbers between 0 and 1,
        /// with spaces between them. Empty: the learning rate is constant.
        pub milestones: Milestones = Milestones::from([0.5, 0.7, 0.9]);
        /// Factor of the learning rate at each milestone.
        pub factor: f64 = 0.1, in 0.0..=1.0;
        /// Least noise variance, as a share of the variance of the targets; half of the start's where that is less.
        pub noise_floor: f64 = 1e-4, in 0.0..=1.0;
        /// Transform from free parameters to scales.
        pub transform: Transform = Transform::Logarithm;
    }
}

impl VecchiaParams {
    /// Training rows that a row is predicted from.
    pub fn predicted_from(&self) -> usize {
        match self.prediction_neighbours {
            0 => 2 * self.neighbours,
            stated => stated,
        }
    }
}
