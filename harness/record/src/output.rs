//! Results of a task other than metrics and a trace.

use serde::{Deserialize, Serialize};

use crate::{Curve, Hyperparameters, Landscape, LearningOutput, Step, TaskKind, ThompsonOutput};

/// Results of a task other than metrics and a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum TaskOutput {
    /// Nothing more.
    Solve,
    /// The posterior along the input.
    Posterior(PosteriorOutput),
    /// The path of the hyperparameters.
    Train(Box<TrainingOutput>),
    /// Nothing more.
    Likelihood,
    /// What the harness saw along the way.
    Learn(Box<LearningOutput>),
    /// The points that were acquired, and what each step measured.
    Thompson(Box<ThompsonOutput>),
}

/// What task `posterior` yields.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PosteriorOutput {
    /// Predictions along the input, where there is one input only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Box<Curve>>,
}

/// What task `train` yields.
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
}

impl TaskOutput {
    /// The output of a task that yielded nothing, as of a case that failed.
    pub fn empty(task: TaskKind) -> TaskOutput {
        match task {
            TaskKind::Solve => TaskOutput::Solve,
            TaskKind::Posterior => TaskOutput::Posterior(PosteriorOutput::default()),
            TaskKind::Train => TaskOutput::Train(Box::default()),
            TaskKind::Likelihood => TaskOutput::Likelihood,
            TaskKind::Learn => TaskOutput::Learn(Box::default()),
            TaskKind::Thompson => TaskOutput::Thompson(Box::default()),
        }
    }

    /// The outer steps of training or of Thompson sampling, or the looks at a learner; none of a task that has neither.
    pub fn steps(&self) -> &[Step] {
        match self {
            TaskOutput::Train(training) => &training.steps,
            TaskOutput::Learn(learning) => &learning.looks,
            TaskOutput::Thompson(thompson) => &thompson.steps,
            TaskOutput::Solve | TaskOutput::Posterior(_) | TaskOutput::Likelihood => &[],
        }
    }

    /// Stores what [`TaskOutput::steps`] gives, of a task that has it.
    pub fn set_steps(&mut self, steps: Vec<Step>) {
        match self {
            TaskOutput::Train(training) => training.steps = steps,
            TaskOutput::Learn(learning) => learning.looks = steps,
            TaskOutput::Thompson(thompson) => thompson.steps = steps,
            TaskOutput::Solve | TaskOutput::Posterior(_) | TaskOutput::Likelihood => {}
        }
    }

    /// What task `train` yielded.
    pub fn training(&self) -> Option<&TrainingOutput> {
        if let TaskOutput::Train(training) = self { Some(training) } else { None }
    }

    /// What task `learn` yielded.
    pub fn learning(&self) -> Option<&LearningOutput> {
        if let TaskOutput::Learn(learning) = self { Some(learning) } else { None }
    }

    /// What task `thompson` yielded.
    pub fn thompson(&self) -> Option<&ThompsonOutput> {
        if let TaskOutput::Thompson(thompson) = self { Some(thompson) } else { None }
    }

    /// Predictions along the input.
    pub fn curve(&self) -> Option<&Curve> {
        match self {
            TaskOutput::Posterior(posterior) => posterior.curve.as_deref(),
            TaskOutput::Train(training) => training.curve.as_deref(),
            TaskOutput::Learn(learning) => learning.curve.as_deref(),
            TaskOutput::Solve | TaskOutput::Likelihood | TaskOutput::Thompson(_) => None,
        }
    }

    /// Stores the best values of a random search, of a task that searches.
    pub fn set_random_search(&mut self, found: Vec<f64>) {
        if let TaskOutput::Thompson(thompson) = self {
            thompson.random_search = found;
        }
    }

    /// Stores predictions along the input, of a task that predicts.
    pub fn set_curve(&mut self, found: Option<Box<Curve>>) {
        match self {
            TaskOutput::Posterior(posterior) => posterior.curve = found,
            TaskOutput::Train(training) => training.curve = found,
            TaskOutput::Learn(learning) => learning.curve = found,
            TaskOutput::Solve | TaskOutput::Likelihood | TaskOutput::Thompson(_) => {}
        }
    }
}
