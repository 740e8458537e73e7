//! Thompson sampling: what a case asks for, and what came of it.
//!
//! An outer step is kept as a [`Step`]: `step` counts from 0, `hyperparameters` is empty, and the metrics are those of the
//! systems that the step solved and of the points that it chose.

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

use super::rules::{Judgement, TaskRules};
use super::training::Step;
use crate::{Inducing, PathwiseTargets, Probes};

/// What task `thompson` needs: in each outer step, posterior samples are drawn from the solutions of the linear systems,
/// and the objective is asked at the place where each sample is largest (Lin et al. 2023, section 4.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thompson {
    /// Name on the estimator axis.
    pub estimator: String,
    /// Right-hand sides beside y: one for each posterior sample, so for each new point of a step.
    pub targets: PathwiseTargets,
    /// Whether prior draws are made of the objective's own frequencies, with other weights.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub share_features: bool,
    /// Outer steps.
    pub steps: u64,
    /// Where each sample is looked at first.
    pub candidates: Candidates,
    /// How the best candidates are improved.
    pub ascent: Ascent,
    /// Where a step's solve starts.
    #[serde(default, skip_serializing_if = "WarmStart::is_none")]
    pub warm_start: WarmStart,
    /// Inducing points as the solver's unknowns; without them, the training rows are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inducing: Option<Inducing>,
    /// Points of another case, step after step, row by row: they are acquired in place of those that the samples choose,
    /// which are judged only.
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

    /// The rows are known only along the way, so that there is no reference to compare with.
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
    /// Rounds; the best candidate of each one is where an ascent starts.
    pub rounds: usize,
    /// Points of a round.
    pub points: usize,
    /// Share of the points that are uniform on the unit cube; the others are near training rows.
    pub explore: f64,
    /// Standard deviation of the offset from such a row in each input, in length scales.
    pub nearby: f64,
    /// How such rows are chosen.
    pub exploit: Exploit,
}

words! {
    /// The law by which training rows are chosen, with probabilities proportional to a weight of their observed values.
    #[derive(Default)]
    pub enum Exploit {
        /// `y - min(y)`: high values are preferred.
        #[default]
        Shifted = "shifted",
        /// `y + min(y)`, divided by its sum, as in the public code of 2023: where the sum is negative, low values are
        /// preferred.
        Public2023 = "public-2023",
    }
}

/// Gradient ascent of each sample, by Adam.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ascent {
    /// Steps from each start.
    pub steps: u64,
    /// Learning rate.
    pub learning_rate: f64,
}

words! {
    /// Where the solve of a step starts.
    #[derive(Default)]
    pub enum WarmStart {
        /// At zero, with prior functions drawn afresh in each step.
        #[default]
        None = "none",
        /// At the last step's solution of y, with zeros for new rows; else as `none`.
        Mean = "mean",
        /// At the last step's solutions, of prior functions that are drawn once. Points were chosen by looking at these, so
        /// that the samples are no longer independent of the data given the model.
        All = "all",
    }
}

impl WarmStart {
    fn is_none(&self) -> bool {
        *self == WarmStart::None
    }
}

/// What task `thompson` yields.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ThompsonOutput {
    /// Outer steps, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// The acquired points, step after step, row by row: d numbers each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<f64>,
    /// The best value after each step of a random search with as many points, which verification draws.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub random_search: Vec<f64>,
    /// How the first step chose its points, where there is one input only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub illustration: Option<Box<Illustration>>,
}

/// How a step chose its points, where there is one input only (Lin et al. 2023, Figure 7). For plotting; rounded to six
/// digits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Illustration {
    /// Places on a grid over the unit interval.
    pub x: Vec<f64>,
    /// The objective there, without noise.
    pub objective: Vec<f64>,
    /// Training rows, or some hundreds of them: place and observed value.
    pub data: Vec<[f64; 2]>,
    /// Candidates of the first round, or every so-many-th of them.
    pub candidates: Vec<f64>,
    /// The first samples.
    pub samples: Vec<IllustratedSample>,
}

/// A posterior sample of an [`Illustration`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct IllustratedSample {
    /// Its values on the grid.
    pub values: Vec<f64>,
    /// Its ascents, from a round's best candidate to the end: places and values.
    pub ascents: Vec<Vec<[f64; 2]>>,
    /// The point that it chose: place and value.
    pub chosen: [f64; 2],
}
