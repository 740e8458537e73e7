//! Task `train`: its inputs and results.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::rules::{Judgement, TaskRules};
use crate::{
    CalibrationShares, Curve, FeatureEstimator, GradientEstimator, Hyperparameters, Metrics, ParamValue,
    PathwiseTargets, Probes, Scale, StopReason,
};

/// The inputs of task `train`, which maximises the log marginal likelihood by Adam, starting from the kernel's
/// hyperparameters. The scales are the softplus of Adam's parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Name on the estimator axis.
    pub estimator: String,
    /// Estimator of the gradient.
    pub gradient: GradientEstimator,
    /// Outer steps.
    pub steps: u64,
    /// Learning rate of the first step.
    pub learning_rate: f64,
    /// Schedule of the learning rate.
    #[serde(default, skip_serializing_if = "RateSchedule::is_constant")]
    pub schedule: RateSchedule,
    /// Whether one length scale, shared by all inputs, is trained rather than one for each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared_length_scale: bool,
    /// Scales that are not trained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<Scale>,
    /// Hyperparameters of every step and after the last one, if they are replayed from another run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replay: Vec<Hyperparameters>,
    /// Exact fits of parts of the data, whose average is the starting point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subset: Option<Subset>,
    /// Grid on which the exact likelihood is evaluated after training with the exact estimator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landscape: Option<Grid>,
    /// Whether the likelihood is compared with its [`Optimum`](crate::Optimum).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optimum: bool,
    /// The posterior that is computed under the final hyperparameters.
    pub prediction: FinalPrediction,
}

impl TaskRules for Training {
    fn estimator(&self) -> Option<&str> {
        Some(&self.estimator)
    }

    fn probes(&self) -> Option<Probes> {
        match self.gradient {
            GradientEstimator::Solutions { probes, .. } => Some(probes),
            GradientEstimator::Exact | GradientEstimator::Features(_) | GradientEstimator::Cglb { .. } => {
                None
            }
        }
    }

    fn right_hand_sides(&self) -> usize {
        1 + self.prediction.targets.probes
    }

    /// False, since the hyperparameters are not known in advance.
    fn exact_reference(&self) -> bool {
        false
    }

    fn optimum(&self) -> bool {
        self.optimum
    }

    fn judgement(&self) -> Judgement {
        Judgement::Steps
    }

    fn checkpoints(&self) -> bool {
        true
    }

    fn features(&self) -> Option<FeatureEstimator> {
        match self.gradient {
            GradientEstimator::Features(features) => Some(features),
            GradientEstimator::Exact
            | GradientEstimator::Solutions { .. }
            | GradientEstimator::Cglb { .. } => None,
        }
    }

    fn solves_twice(&self) -> bool {
        matches!(self.gradient, GradientEstimator::Solutions { second_solve: true, .. })
    }

    fn most_steps(&self) -> usize {
        usize::try_from(self.steps).unwrap_or(usize::MAX)
    }

    fn variance_samples(&self) -> Option<usize> {
        Some(self.prediction.targets.probes).filter(|samples| *samples > 0)
    }
}

/// The results of task `train`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TrainingOutput {
    /// Outer steps, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Hyperparameters after the last step; empty if training did not end.
    #[serde(skip_serializing_if = "Hyperparameters::is_empty")]
    pub hyperparameters: Hyperparameters,
    /// The exact likelihood over the plane of length scale and noise scale, where the spec asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landscape: Option<Box<Landscape>>,
    /// Predictions along the input, where there is one input only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Box<Curve>>,
    /// The calibration of the predictions; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Box<CalibrationShares>>,
    /// Why training ended before its last step, at a singular matrix or a number that is not finite, and which step the
    /// result is that of; absent if it has not diverged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<String>,
}

/// The posterior that training ends with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinalPrediction {
    /// Right-hand sides in addition to y.
    pub targets: PathwiseTargets,
    /// Solver parameters that differ from those of the steps.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, ParamValue>,
}

/// A grid over the plane of length scale and noise scale, equally spaced on logarithmic axes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// Shortest and longest length scale, shared by all inputs.
    pub length_scale: [f64; 2],
    /// Smallest and largest noise scale.
    pub noise_scale: [f64; 2],
    /// Points along each axis.
    pub points: usize,
}

/// The exact log marginal likelihood on a [`Grid`], at the signal scale that training ended with. For plotting;
/// rounded to six digits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Landscape {
    /// Length scales, increasing.
    pub length_scale: Vec<f64>,
    /// Noise scales, increasing.
    pub noise_scale: Vec<f64>,
    /// A row for each noise scale, with a value for each length scale; absent where the kernel matrix is not
    /// positive definite in double precision.
    pub log_likelihood: Vec<Vec<Option<f64>>>,
}

/// Exact fits of parts of the data (Lin et al. 2023, appendix A.1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Subset {
    /// Number of random rows, one for each part.
    pub centroids: usize,
    /// Number of rows of a part: those nearest to its random row.
    pub size: usize,
    /// Largest number of steps of Adam on each part.
    pub steps: u64,
    /// Learning rate of these steps.
    #[serde(default)]
    pub learning_rate: f64,
    /// Gain in the log marginal likelihood per row over ten steps below which a fit has converged.
    #[serde(default)]
    pub tolerance: f64,
}

/// Schedule of the learning rate over the steps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RateSchedule {
    /// A constant learning rate.
    #[default]
    Constant,
    /// A learning rate that is multiplied by a factor at each milestone.
    MultiStep {
        /// Steps, counted from 0, before which the rate changes.
        milestones: Vec<u64>,
        /// The factor.
        factor: f64,
    },
}

impl RateSchedule {
    fn is_constant(&self) -> bool {
        *self == RateSchedule::Constant
    }
}

/// One outer step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Number of the step, counted from 0.
    pub step: u64,
    /// The hyperparameters of its systems.
    pub hyperparameters: Hyperparameters,
    /// Why the solver stopped.
    pub reason: StopReason,
    /// True and claimed residuals, epochs, iterations, seconds, and predictions from its solutions.
    pub metrics: Metrics,
}
