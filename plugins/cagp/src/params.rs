//! Parameters of computation-aware Gaussian processes.

use gpbench_sdk::optimise::{Milestones, Transform};

gpbench_sdk::choices! {
    /// How actions are chosen.
    pub enum ActionPolicy {
        /// Each row is in one action, and the entries are trained with the scales (CaGP-Opt).
        Sparse = "sparse",
        /// The residuals of conjugate gradients at the scales of each step (CaGP-CG).
        ConjugateGradients = "cg",
    }
}

gpbench_sdk::params! {
    /// Parameters of computation-aware Gaussian processes.
    pub struct CagpParams {
        /// Choice of the actions: `sparse`, each row in one, with entries that are trained (CaGP-Opt); `cg`, the
        /// residuals of conjugate gradients at the scales of each step (CaGP-CG).
        pub policy: ActionPolicy = ActionPolicy::Sparse;
        /// Actions, as many as rows at most. 0: 256 or a quarter of the rows, whichever is less; with `cg` 32.
        pub actions: usize = 0, in 0..=16_384;
        /// Learning rate of Adam, for the scales and the entries of the actions.
        pub learning_rate: f64 = 0.1, in 0.0..=1e6;
        /// Shares of the passes after which the learning rate is multiplied by `factor`: numbers between 0 and 1,
        /// with spaces between them. Empty: the learning rate is constant.
        pub milestones: Milestones = Milestones::from([0.5, 0.7, 0.9]);
        /// Factor of the learning rate at each milestone.
        pub factor: f64 = 0.1, in 0.0..=1.0;
        /// Transform from free parameters to scales.
        pub transform: Transform = Transform::Scale;
    }
}

impl CagpParams {
    /// The number of actions for n rows.
    pub fn count(&self, n: usize) -> usize {
        let stated = match (self.actions, self.policy) {
            (0, ActionPolicy::Sparse) => (n / 4).clamp(1, 256),
            (0, ActionPolicy::ConjugateGradients) => 32,
            (stated, _) => stated,
        };
        stated.min(n)
    }
}
