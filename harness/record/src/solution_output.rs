//! What a kept solution says of a task's results beside metrics.

use serde::{Deserialize, Serialize};

use crate::{Hyperparameters, ModelKind};

/// The part of a task's output that its solution determines, with which the output of a row is compared.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SolutionOutput {
    /// The kind of a learner's model; absent without a model, and for other tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelKind>,
    /// The hyperparameters of that model.
    #[serde(skip_serializing_if = "Hyperparameters::is_empty")]
    pub hyperparameters: Hyperparameters,
    /// The points at which a search has evaluated its objective, as in [`crate::ThompsonOutput::points`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<f64>,
    /// The best value of the objective after each step of a search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub best: Vec<f64>,
}

impl SolutionOutput {
    /// Whether the solution says nothing beside metrics.
    pub fn is_empty(&self) -> bool {
        *self == SolutionOutput::default()
    }
}
