//! Training: what a case asks for, and what each outer step measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{GradientEstimator, Kernel, Metrics, Param, PathwiseTargets, StopReason};

/// What task `train` needs: ascent of the log marginal likelihood by Adam, on parameters whose softplus are
/// the scales, starting from the kernel's numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Name on the estimator axis.
    pub estimator: String,
    /// How each step estimates the gradient.
    pub gradient: GradientEstimator,
    /// Outer steps.
    pub steps: u64,
    /// Learning rate of the first step.
    pub learning_rate: f64,
    /// How it changes.
    #[serde(default, skip_serializing_if = "Schedule::is_constant")]
    pub schedule: Schedule,
    /// Whether one length scale, shared by all inputs, is trained rather than one for each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared_length_scale: bool,
    /// Scales that stay as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<Scale>,
    /// Hyperparameters of every step and after the last one, where they are replayed from another run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replay: Vec<Hyperparameters>,
    /// Exact fits of parts of the data, whose average is the starting point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subset: Option<Subset>,
    /// Where the exact likelihood is evaluated after training by the exact estimator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landscape: Option<Grid>,
    /// The posterior that is computed under the final hyperparameters.
    pub prediction: Prediction,
}

/// The posterior that training ends with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Right-hand sides beside y.
    pub targets: PathwiseTargets,
    /// Solver parameters that differ from those of the steps.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Param>,
}

/// A grid over the plane of length scale and noise scale, even on logarithmic axes.
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

/// A kind of hyperparameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Standard deviation of the noise.
    NoiseScale,
    /// Standard deviation of the prior.
    SignalScale,
    /// All length scales.
    LengthScale,
}

impl Scale {
    /// All kinds.
    pub const ALL: [Scale; 3] = [Scale::NoiseScale, Scale::SignalScale, Scale::LengthScale];

    /// Its name in [`Hyperparameters`], which those of several length scales begin with.
    pub fn name(self) -> &'static str {
        match self {
            Scale::NoiseScale => NOISE_SCALE,
            Scale::SignalScale => SIGNAL_SCALE,
            Scale::LengthScale => LENGTH_SCALE,
        }
    }
}

/// Exact fits of parts of the data (Lin et al. 2023, appendix A.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subset {
    /// Random rows.
    pub centroids: usize,
    /// Rows nearest to each of them that are fitted.
    pub size: usize,
    /// Steps of Adam on each part.
    pub steps: u64,
}

/// How the learning rate changes along the steps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Schedule {
    /// Not at all.
    #[default]
    Constant,
    /// It is multiplied at each milestone.
    MultiStep {
        /// Steps, counted from 0, before which it changes.
        milestones: Vec<u64>,
        /// What it is multiplied by.
        factor: f64,
    },
}

impl Schedule {
    fn is_constant(&self) -> bool {
        *self == Schedule::Constant
    }
}

/// Hyperparameters by name: `noise_scale`, `signal_scale`, and `length_scale_0` and so on, or
/// `length_scale` where all inputs share one; and `mean`, where it is trained.
pub type Hyperparameters = BTreeMap<String, f64>;

const NOISE_SCALE: &str = "noise_scale";
const SIGNAL_SCALE: &str = "signal_scale";
const LENGTH_SCALE: &str = "length_scale";
const MEAN: &str = "mean";

impl Kernel {
    /// The hyperparameters by name.
    pub fn hyperparameters(&self) -> Hyperparameters {
        let single = [(NOISE_SCALE, self.noise_scale), (SIGNAL_SCALE, self.signal_scale)];
        let mut named: Hyperparameters = single.map(|(name, scale)| (name.to_owned(), scale)).into();
        match self.length_scale.as_slice() {
            [shared] => drop(named.insert(LENGTH_SCALE.to_owned(), *shared)),
            each => named.extend(each.iter().enumerate().map(|(k, l)| (format!("{LENGTH_SCALE}_{k}"), *l))),
        }
        named.extend(self.mean.map(|mean| (MEAN.to_owned(), mean)));
        named
    }

    /// This kernel with other hyperparameters; `None` where a scale is not among them.
    pub fn with_hyperparameters(&self, named: &Hyperparameters) -> Option<Kernel> {
        let each = (0..).map_while(|k| named.get(&format!("{LENGTH_SCALE}_{k}"))).copied();
        let length_scale: Vec<f64> = match named.get(LENGTH_SCALE) {
            Some(shared) => vec![*shared],
            None => each.collect(),
        };
        (!length_scale.is_empty()).then_some(())?;
        Some(Kernel {
            signal_scale: *named.get(SIGNAL_SCALE)?,
            noise_scale: *named.get(NOISE_SCALE)?,
            length_scale,
            mean: named.get(MEAN).copied().or(self.mean),
            ..self.clone()
        })
    }
}

/// One outer step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Counted from 0.
    pub step: u64,
    /// The hyperparameters of its systems.
    pub hyperparameters: Hyperparameters,
    /// Why the solver stopped.
    pub reason: StopReason,
    /// True and claimed residuals, epochs, iterations, seconds, and predictions from its solutions.
    pub metrics: Metrics,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, OriginBase};

    #[test]
    fn hyperparameters_survive_their_names() {
        let kernel = |length_scale: Vec<f64>| Kernel {
            name: "k".into(),
            family: Family::Rbf,
            signal_scale: 1.5,
            noise_scale: 0.1,
            length_scale,
            mean: None,
            origin: OriginBase::Ones.into(),
        };
        let ones = kernel(vec![1.0]);
        for lengths in [vec![0.7], (1..=12).map(f64::from).collect()] {
            let named = kernel(lengths.clone()).hyperparameters();
            assert_eq!(named.len(), 2 + lengths.len());
            assert_eq!(ones.with_hyperparameters(&named), Some(kernel(lengths)));
        }
        let mut lacking = ones.hyperparameters();
        lacking.remove("length_scale");
        assert_eq!(ones.with_hyperparameters(&lacking), None);
    }
}
