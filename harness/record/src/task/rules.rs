//! What the harness has to know of every task.

use crate::{FeatureEstimator, Inducing, Probes};

/// What the harness has to know of every task. What has a default is what most tasks lack.
pub trait TaskRules {
    /// The name on the estimator axis, of a task that has one.
    fn estimator(&self) -> Option<&str>;

    /// Right-hand sides beside y of the linear systems that are solved, where any are; of a training case, those of
    /// its steps.
    fn probes(&self) -> Option<Probes>;

    /// The number of right-hand sides of the systems whose solution is verified, y included; 1 where none are
    /// solved.
    fn right_hand_sides(&self) -> usize;

    /// Whether the case is compared with an exact reference at its own hyperparameters.
    fn exact_reference(&self) -> bool;

    /// How the status of a case follows from what was verified.
    fn judgement(&self) -> Judgement;

    /// Whether the case writes checkpoints, from which it continues after an interruption.
    fn checkpoints(&self) -> bool {
        false
    }

    /// The estimator by random features, of a task that has one in place of solving systems.
    fn features(&self) -> Option<FeatureEstimator> {
        None
    }

    /// Whether each step or estimate solves for y twice.
    fn solves_twice(&self) -> bool {
        false
    }

    /// The most outer steps, or looks at a learner, that the task makes.
    fn most_steps(&self) -> usize {
        0
    }

    /// The inducing points, of a task that has them.
    fn inducing(&self) -> Option<Inducing> {
        None
    }
}

/// How the status of a case follows from what was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// By the true residuals of its systems, held to the tolerance.
    Residuals,
    /// By those of each outer step, and then by those of the last systems.
    Steps,
    /// By whether its estimates are finite: they have no tolerance.
    Estimates,
    /// By whether a learner's model is finite and predicts as the learner does.
    Model,
}
