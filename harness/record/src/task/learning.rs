//! Task `learn`: its inputs and results.
//!
//! The harness evaluates the model in pauses between two passes over the training rows. An evaluation, which plans
//! and journals call a look, is stored as a [`Step`]: `step` counts evaluations from 0, and `hyperparameters` are
//! those of the model (empty if it has none). `reason` is [`StopReason::Epochs`](crate::StopReason::Epochs) between
//! passes, and the reason of the end for the last evaluation. Costs, such as `passes`, `rows`, `epochs`,
//! `feature_rows`, `iterations`, `seconds_prepare` and `seconds_solve`, count from the beginning of the fit.

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

use super::rules::{Judgement, TaskRules};
use super::training::Step;
use crate::{CalibrationShares, Covariance, Curve, GridPoint, Hyperparameters, Inducing, ModelKind, Probes};

/// The inputs of task `learn`, in which a learner fits by itself and the harness evaluates its model at intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learning {
    /// Passes over the training rows that the learner is granted.
    pub passes: u64,
    /// Numbers of passes after which the harness evaluates the model, increasing; the last one is `passes`.
    pub looks: Vec<u64>,
    /// Selection of the evaluation whose model is the result.
    #[serde(default, skip_serializing_if = "ModelSelection::is_last")]
    pub select: ModelSelection,
    /// Number of evaluations without improvement after which the case ends; with 0 it continues to its last pass.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub patience: u64,
    /// Inducing points that the harness chooses for a learner that needs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inducing: Option<Inducing>,
    /// Whether one length scale, shared by all inputs, is learned rather than one for each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared_length_scale: bool,
    /// Number of training rows, drawn once, on which an evaluation computes the exact likelihood of a kernel of
    /// infinite dimension. A kernel of finite dimension uses all rows.
    #[serde(default = "nlml_rows")]
    pub nlml_rows: usize,
    /// Most training rows of which the last evaluation factorises the matrix of a kernel of infinite dimension, for its
    /// exact likelihood and for the predictions of an exact process.
    #[serde(default = "exact_rows", skip_serializing_if = "is_default_of_exact_rows")]
    pub exact_rows: usize,
    /// Rank of the variances of an exact process; absent: they come from a factor, or from samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variance_rank: Option<usize>,
    /// Whether the likelihood is compared with its [`Optimum`](crate::Optimum).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optimum: bool,
    /// The field in which earlier versions stored [`Solver::grid`](crate::Solver::grid). It is read and never
    /// written.
    #[serde(default, skip_serializing)]
    pub grid: Option<GridPoint>,
}

/// Default of [`Learning::nlml_rows`].
const NLML_ROWS: usize = 4096;

impl Learning {
    /// Default of [`Learning::exact_rows`]: the matrix takes 3.2 GB.
    pub const EXACT_ROWS: usize = 20_000;

    /// Number of posterior samples from which variances of an exact process of more than [`Learning::dense_rows`] rows
    /// are computed.
    pub const VARIANCE_SAMPLES: usize = 64;

    /// Most training rows whose matrix the last evaluation factorises: no fewer than those of earlier ones.
    pub fn dense_rows(&self) -> usize {
        self.exact_rows.max(self.nlml_rows)
    }

    /// Whether a model of this kind and kernel needs a dense matrix of all training rows: an exact process, unless its kernel
    /// has finitely many features.
    pub fn is_dense(model: ModelKind, family: Covariance) -> bool {
        matches!(model, ModelKind::Gp | ModelKind::NetworkGp) && family != Covariance::Linear
    }

    /// Whether predictions from `n` rows are computed iteratively, their variances from samples: by a dense model of more
    /// than [`Learning::dense_rows`] rows.
    pub fn is_iterative(&self, model: ModelKind, family: Covariance, n: usize) -> bool {
        Learning::is_dense(model, family) && n > self.dense_rows()
    }
}

impl TaskRules for Learning {
    fn estimator(&self) -> Option<&str> {
        None
    }

    fn probes(&self) -> Option<Probes> {
        None
    }

    fn right_hand_sides(&self) -> usize {
        1
    }

    /// False, since the hyperparameters are not known in advance.
    fn exact_reference(&self) -> bool {
        false
    }

    fn optimum(&self) -> bool {
        self.optimum
    }

    fn judgement(&self) -> Judgement {
        Judgement::Model
    }

    fn checkpoints(&self) -> bool {
        true
    }

    fn most_steps(&self) -> usize {
        self.looks.len()
    }

    fn inducing(&self) -> Option<Inducing> {
        self.inducing
    }
}

words! {
    /// Criterion that selects the evaluation whose model is the result: the smallest value, and the earliest of equal
    /// ones.
    #[derive(Default)]
    pub enum ModelSelection {
        /// The last evaluation.
        #[default]
        Last = "last",
        /// The learner's own objective.
        Objective = "objective",
        /// The exact negative log marginal likelihood, or its bound where only that is known.
        Nlml = "nlml",
        /// The negative log-likelihood of validation rows.
        ValidationNll = "validation_nll",
        /// The root mean square error on validation rows.
        ValidationRmse = "validation_rmse",
    }
}

impl ModelSelection {
    /// Whether it needs validation rows.
    pub fn validates(self) -> bool {
        matches!(self, ModelSelection::ValidationNll | ModelSelection::ValidationRmse)
    }

    fn is_last(&self) -> bool {
        *self == ModelSelection::Last
    }
}

/// The results of task `learn`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LearningOutput {
    /// The evaluations, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<Step>,
    /// The `step` of the evaluation whose model is the result; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected: Option<u64>,
    /// The kind of the model; absent if the learner gives none, so that its predictions are its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelKind>,
    /// Hyperparameters of the result; empty for a model without hyperparameters.
    #[serde(skip_serializing_if = "Hyperparameters::is_empty")]
    pub hyperparameters: Hyperparameters,
    /// The reason of divergence; absent if the fit has not diverged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<String>,
    /// Why the learner makes no predictions of its own; absent if it makes them. Without them the model cannot be compared with the
    /// learner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declined: Option<String>,
    /// Predictions along the input, where there is one input only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Box<Curve>>,
    /// The calibration of the predictions; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Box<CalibrationShares>>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn nlml_rows() -> usize {
    NLML_ROWS
}

fn exact_rows() -> usize {
    Learning::EXACT_ROWS
}

fn is_default_of_exact_rows(rows: &usize) -> bool {
    *rows == Learning::EXACT_ROWS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_has_its_default() {
        let learning: Learning = serde_json::from_str(r#"{"passes":3,"looks":[1,3]}"#).unwrap();
        let expected = Learning {
            passes: 3,
            looks: vec![1, 3],
            select: ModelSelection::Last,
            patience: 0,
            inducing: None,
            shared_length_scale: false,
            nlml_rows: 4096,
            exact_rows: Learning::EXACT_ROWS,
            variance_rank: None,
            optimum: false,
            grid: None,
        };
        assert_eq!(learning, expected);
    }
}
