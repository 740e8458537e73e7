//! Task `likelihood`: repeated estimates of the marginal likelihood and of its gradient.

use serde::{Deserialize, Serialize};

use super::rules::{Judgement, TaskRules};
use crate::{FeatureEstimator, LikelihoodEstimator, Probes};

/// The inputs of task `likelihood`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LikelihoodStudy {
    /// Name on the estimator axis.
    pub estimator: String,
    /// The estimator.
    pub method: LikelihoodEstimator,
    /// Number of independent estimates.
    pub repetitions: u64,
}

impl TaskRules for LikelihoodStudy {
    fn estimator(&self) -> Option<&str> {
        Some(&self.estimator)
    }

    fn probes(&self) -> Option<Probes> {
        match self.method {
            LikelihoodEstimator::Solutions { probes, .. } => Some(probes),
            LikelihoodEstimator::Features(_) => None,
        }
    }

    fn right_hand_sides(&self) -> usize {
        1 + self.probes().map_or(0, |probes| probes.count())
    }

    /// False, since verification needs more than an exact reference contains, and fits its own exact process.
    fn exact_reference(&self) -> bool {
        false
    }

    fn judgement(&self) -> Judgement {
        Judgement::Estimates
    }

    fn features(&self) -> Option<FeatureEstimator> {
        match self.method {
            LikelihoodEstimator::Features(features) => Some(features),
            LikelihoodEstimator::Solutions { .. } => None,
        }
    }

    fn solves_twice(&self) -> bool {
        matches!(self.method, LikelihoodEstimator::Solutions { second_solve: true, .. })
    }
}
