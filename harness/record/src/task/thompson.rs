//! Task `thompson`: its inputs and results.
//!
//! An outer step is stored as a [`Step`]: `step` counts from 0, `hyperparameters` is empty, and the metrics are those
//! of the systems that the step solved and of the points that it chose.

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

use super::rules::{Judgement, TaskRules};
use super::training::Step;
use crate::{Inducing, PathwiseTargets, Probes};

/// The inputs of task `thompson`. In each outer step, the solutions of linear systems give posterior samples, and the
/// objective is evaluated where each sample is largest (Lin et al. 2023, section 4.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thompson {
    /// Name on the estimator axis.
    pub estimator: String,
    /// Right-hand sides in addition to y: one for each posterior sample, and so for each new point of a step.
    pub targets: PathwiseTargets,
    /// Whether prior draws use the objective's own frequencies, with other weights.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub share_features: bool,
    /// Outer steps.
    pub steps: u64,
    /// The candidates at which each sample is first evaluated.
    pub candidates: Candidates,
    /// How the best candidates are improved.
    pub ascent: Ascent,
    /// Starting point of a step's solve.
    #[serde(default, skip_serializing_if = "WarmStart::is_none")]
    pub warm_start: WarmStart,
    /// Inducing points, whose weights are the unknowns; if absent, the unknowns are the weights of the training rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inducing: Option<Inducing>,
    /// Points of another case, ordered by step, one row after another. They are acquired instead of the points that
    /// the samples choose, which are only evaluated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replay: Vec<f64>,
}

impl TaskRules for Thompson {
    fn estimator(&self) -> Option<&str> {
        Some(&self.estimator)
    }

    fn probes(&self) -> Option<Probes> {
        Some(Probes::Pathwise(self.targets))
    }

    fn right_hand_sides(&self) -> usize {
        1 + self.targets.probes
    }

    /// False, since the rows are not known in advance.
    fn exact_reference(&self) -> bool {
        false
    }

    fn judgement(&self) -> Judgement {
        Judgement::Steps
    }

    fn checkpoints(&self) -> bool {
        true
    }

    fn most_steps(&self) -> usize {
        usize::try_from(self.steps).unwrap_or(usize::MAX)
    }

    fn inducing(&self) -> Option<Inducing> {
        self.inducing
    }
}

/// Random points at which all samples of a step are evaluated, in rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Candidates {
    /// Number of rounds; an ascent starts at the best candidate of each round.
    pub rounds: usize,
    /// Number of points in a round.
    pub points: usize,
    /// Fraction of the points that are uniform on the unit cube; the others are near training rows.
    pub explore: f64,
    /// Standard deviation of the offset from a training row in each input, in length scales.
    pub nearby: f64,
    /// Distribution by which these training rows are chosen.
    pub exploit: Exploit,
}

words! {
    /// Distribution by which training rows are chosen: probabilities are proportional to a weight of the observed
    /// value.
    #[derive(Default)]
    pub enum Exploit {
        /// Weight `y - min(y)`, which prefers high values.
        #[default]
        Shifted = "shifted",
        /// Probability `y + min(y)` divided by its sum, as in the public code of 2023. It prefers low values if the
        /// sum is negative.
        Public2023 = "public-2023",
    }
}

/// Gradient ascent of each sample, by Adam.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ascent {
    /// Number of steps from each starting point.
    pub steps: u64,
    /// Learning rate.
    pub learning_rate: f64,
}

words! {
    /// Starting point of the solve of a step.
    #[derive(Default)]
    pub enum WarmStart {
        /// Zero, with prior functions drawn afresh in each step.
        #[default]
        None = "none",
        /// The last step's solution for y, with zeros for new rows; all else as in `none`.
        Mean = "mean",
        /// The last step's solutions, for prior functions that are drawn once. Earlier points were chosen by these
        /// functions, so the samples are no longer independent of the data given the model.
        All = "all",
    }
}

impl WarmStart {
    fn is_none(&self) -> bool {
        *self == WarmStart::None
    }
}

/// The results of task `thompson`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ThompsonOutput {
    /// Outer steps, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// The acquired points, ordered by step, one row after another, d numbers each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<f64>,
    /// The best value after each step of a random search with as many points, which verification runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub random_search: Vec<f64>,
    /// Illustration of the first step's choice of points, where there is one input only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub illustration: Option<Box<Illustration>>,
    /// Why the search ended before its last step, at a singular matrix or a number that is not finite, and which step the
    /// result is that of; absent if it has not diverged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<String>,
}

/// Illustration of a step's choice of points, where there is one input only (Lin et al. 2023, Figure 7). For
/// plotting; rounded to six digits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Illustration {
    /// Inputs on a grid over the unit interval.
    pub x: Vec<f64>,
    /// The objective at these inputs, without noise.
    pub objective: Vec<f64>,
    /// Input and observed value of the training rows, or of some hundreds of them.
    pub data: Vec<[f64; 2]>,
    /// Candidates of the first round, possibly thinned.
    pub candidates: Vec<f64>,
    /// The first samples.
    pub samples: Vec<IllustratedSample>,
}

/// A posterior sample of an [`Illustration`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct IllustratedSample {
    /// Its values on the grid.
    pub values: Vec<f64>,
    /// Inputs and values along its ascents, from a round's best candidate to the end.
    pub ascents: Vec<Vec<[f64; 2]>>,
    /// Input and value of the chosen point.
    pub chosen: [f64; 2],
}
