//! Task `posterior`: a solve for y and for pathwise targets, and predictions on the test rows.

use serde::{Deserialize, Serialize};

use super::rules::{Judgement, TaskRules};
use crate::{CalibrationShares, Curve, Inducing, PathwiseTargets, Probes};

/// The inputs of task `posterior`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Posterior {
    /// Name on the estimator axis.
    pub estimator: String,
    /// Right-hand sides in addition to y.
    pub targets: PathwiseTargets,
    /// Inducing points, whose weights are the unknowns; if absent, the unknowns are the weights of the training rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inducing: Option<Inducing>,
}

impl TaskRules for Posterior {
    fn estimator(&self) -> Option<&str> {
        Some(&self.estimator)
    }

    fn probes(&self) -> Option<Probes> {
        Some(Probes::Pathwise(self.targets))
    }

    fn right_hand_sides(&self) -> usize {
        1 + self.targets.probes
    }

    fn exact_reference(&self) -> bool {
        true
    }

    fn judgement(&self) -> Judgement {
        Judgement::Residuals
    }

    fn inducing(&self) -> Option<Inducing> {
        self.inducing
    }

    fn variance_samples(&self) -> Option<usize> {
        Some(self.targets.probes).filter(|samples| *samples > 0)
    }
}

/// The results of task `posterior`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PosteriorOutput {
    /// Predictions along the input, where there is one input only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Box<Curve>>,
    /// The calibration of the predictions; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Box<CalibrationShares>>,
}
