//! Properties that every task states.

use crate::{FeatureEstimator, Inducing, Probes};

/// Properties that every task states. Methods with a default concern few tasks.
pub trait TaskRules {
    /// The name on the estimator axis, for a task that has one.
    fn estimator(&self) -> Option<&str>;

    /// Right-hand sides in addition to y of the linear systems that are solved, if any; in a training case, those of
    /// its steps.
    fn probes(&self) -> Option<Probes>;

    /// The number of right-hand sides of the systems whose solution is verified, including y; 1 if none are solved.
    fn right_hand_sides(&self) -> usize;

    /// Whether the case is compared with an exact reference at its own hyperparameters.
    fn exact_reference(&self) -> bool;

    /// Whether the learned hyperparameters are compared with the optimum of the exact likelihood.
    fn optimum(&self) -> bool {
        false
    }

    /// The quantity that decides the status of a case.
    fn judgement(&self) -> Judgement;

    /// Whether the case writes checkpoints, from which it continues after an interruption.
    fn checkpoints(&self) -> bool {
        false
    }

    /// The estimator by random features, for a task that uses one instead of solving systems.
    fn features(&self) -> Option<FeatureEstimator> {
        None
    }

    /// Whether each step or estimate solves for y twice.
    fn solves_twice(&self) -> bool {
        false
    }

    /// The largest number of outer steps or of evaluations of a learner.
    fn most_steps(&self) -> usize {
        0
    }

    /// The inducing points, for a task that has them.
    fn inducing(&self) -> Option<Inducing> {
        None
    }

    /// The number of posterior samples from which predictive variances are computed, for a task that samples them.
    fn variance_samples(&self) -> Option<usize> {
        None
    }
}

/// The quantity that decides the status of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// The true residuals of the systems, compared with the tolerance.
    Residuals,
    /// The true residuals of each outer step, and then those of the last systems.
    Steps,
    /// Whether the estimates are finite; they have no tolerance.
    Estimates,
    /// Whether a learner's model is finite and predicts the same as the learner.
    Model,
}
