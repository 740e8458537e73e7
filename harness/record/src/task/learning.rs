//! Learning: what a case asks of a learner, and what came of it.
//!
//! A look is a pause between two passes over the training rows, in which the harness evaluates the model. A look is
//! kept as a [`Step`]: `step` counts looks from 0, `hyperparameters` are those of the model (empty where it has none),
//! `reason` is [`StopReason::Epochs`](crate::StopReason::Epochs) for a look between passes and the reason of the end
//! for the last one. Its costs, such as `passes`, `rows`, `epochs`, `feature_rows`, `iterations`, `seconds_prepare` and
//! `seconds_solve`, count from the beginning of the fit.

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

use super::rules::{Judgement, TaskRules};
use super::training::Step;
use crate::{Curve, GridPoint, Hyperparameters, Inducing, ModelKind, Probes};

/// What task `learn` needs: a learner fits by itself, with parameters of its own, and the harness looks at its model
/// from time to time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learning {
    /// Passes over the training rows that the learner is granted.
    pub passes: u64,
    /// Numbers of passes after which the harness looks at the model: increasing, the last one is `passes`.
    pub looks: Vec<u64>,
    /// Which look's model is the result.
    #[serde(default, skip_serializing_if = "ModelSelection::is_last")]
    pub select: ModelSelection,
    /// Looks without a new best one after which the case ends; 0: it goes on to its last pass.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub patience: u64,
    /// Inducing points that the harness chooses for a learner that needs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inducing: Option<Inducing>,
    /// Whether one length scale, shared by all inputs, is learned rather than one for each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared_length_scale: bool,
    /// Training rows, drawn once, on which a look evaluates the exact likelihood of a kernel of infinite dimension. One of
    /// finite dimension is evaluated on all rows.
    #[serde(default = "nlml_rows")]
    pub nlml_rows: usize,
    /// Where earlier versions kept [`Solver::grid`](crate::Solver::grid): read, and never written.
    #[serde(default, skip_serializing)]
    pub grid: Option<GridPoint>,
}

/// Default of [`Learning::nlml_rows`].
const NLML_ROWS: usize = 4096;

impl Learning {
    /// Most training rows for which the exact likelihood of a kernel of infinite dimension is evaluated at the end,
    /// on all of them.
    pub const MOST_NLML_ROWS: usize = 20_000;
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

    /// There is nothing to compare with before the hyperparameters are known.
    fn exact_reference(&self) -> bool {
        false
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
    /// Which look's model is the result: the one whose number is smallest, the earliest of equal ones.
    #[derive(Default)]
    pub enum ModelSelection {
        /// The last.
        #[default]
        Last = "last",
        /// By the learner's own objective.
        Objective = "objective",
        /// By the exact negative log marginal likelihood, or its bound where only that is known.
        Nlml = "nlml",
        /// By the negative log-likelihood of validation rows.
        ValidationNll = "validation_nll",
        /// By the root mean square error on validation rows.
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

/// What task `learn` yields.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LearningOutput {
    /// The looks, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<Step>,
    /// The look whose model is the result, by its `step`; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected: Option<u64>,
    /// The kind of the model; absent where the learner gives none, and its predictions are its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelKind>,
    /// Hyperparameters of the result; empty for a model without any.
    #[serde(skip_serializing_if = "Hyperparameters::is_empty")]
    pub hyperparameters: Hyperparameters,
    /// Why the fit has diverged; absent where it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<String>,
    /// Predictions along the input, where there is one input only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Box<Curve>>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn nlml_rows() -> usize {
    NLML_ROWS
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
            grid: None,
        };
        assert_eq!(learning, expected);
    }
}
