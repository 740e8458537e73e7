//! Tasks: the inputs of each task, and its results in addition to metrics and a trace.
//!
//! Each task has a module of its own, which implements [`TaskRules`].

mod learning;
mod likelihood;
mod posterior;
mod rules;
mod solve;
mod thompson;
mod training;

use std::ops::Deref;

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

use crate::{CalibrationShares, Curve, Hyperparameters};

pub use learning::{Learning, LearningOutput, ModelSelection};
pub use likelihood::LikelihoodStudy;
pub use posterior::{Posterior, PosteriorOutput};
pub use rules::{Judgement, TaskRules};
pub use solve::Solve;
pub use thompson::{
    Ascent, Candidates, Exploit, IllustratedSample, Illustration, Thompson, ThompsonOutput, WarmStart,
};
pub use training::{FinalPrediction, Grid, Landscape, RateSchedule, Step, Subset, Training, TrainingOutput};

/// A task with all of its inputs. Its rules are the methods of [`TaskRules`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Task {
    /// Solve H V = [y, z_1 .. z_s].
    Solve(Solve),
    /// Solve for y and for pathwise targets, then predict on the test rows.
    Posterior(Posterior),
    /// Maximise the marginal likelihood, then predict.
    Train(Box<Training>),
    /// Estimate the marginal likelihood and its gradient repeatedly, and compare with the exact ones.
    Likelihood(LikelihoodStudy),
    /// Let a learner fit and predict by itself.
    Learn(Box<Learning>),
    /// Evaluate an objective where posterior samples are largest, step by step.
    Thompson(Box<Thompson>),
}

words! {
    /// The kind of a task.
    pub enum TaskKind {
        /// [`Task::Solve`].
        Solve = "solve",
        /// [`Task::Posterior`].
        Posterior = "posterior",
        /// [`Task::Train`].
        Train = "train",
        /// [`Task::Likelihood`].
        Likelihood = "likelihood",
        /// [`Task::Learn`].
        Learn = "learn",
        /// [`Task::Thompson`].
        Thompson = "thompson",
    }
}

impl Deref for Task {
    type Target = dyn TaskRules;

    fn deref(&self) -> &Self::Target {
        match self {
            Task::Solve(task) => task,
            Task::Posterior(task) => task,
            Task::Train(task) => &**task,
            Task::Likelihood(task) => task,
            Task::Learn(task) => &**task,
            Task::Thompson(task) => &**task,
        }
    }
}

impl Task {
    /// The kind of this task.
    pub fn kind(&self) -> TaskKind {
        match self {
            Task::Solve(_) => TaskKind::Solve,
            Task::Posterior(_) => TaskKind::Posterior,
            Task::Train(_) => TaskKind::Train,
            Task::Likelihood(_) => TaskKind::Likelihood,
            Task::Learn(_) => TaskKind::Learn,
            Task::Thompson(_) => TaskKind::Thompson,
        }
    }

    /// The inputs of task `train`, if this is one.
    pub fn training(&self) -> Option<&Training> {
        if let Task::Train(training) = self { Some(training) } else { None }
    }

    /// The inputs of task `learn`, if this is one.
    pub fn learning(&self) -> Option<&Learning> {
        if let Task::Learn(learning) = self { Some(learning) } else { None }
    }

    /// Whether the task changes one length scale, which all inputs share.
    pub fn shares_length_scale(&self) -> bool {
        self.training().is_some_and(|training| training.shared_length_scale)
            || self.learning().is_some_and(|learning| learning.shared_length_scale)
    }

    /// The inputs of task `thompson`, if this is one.
    pub fn thompson(&self) -> Option<&Thompson> {
        if let Task::Thompson(thompson) = self { Some(thompson) } else { None }
    }
}

/// Results of a task in addition to metrics and a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum TaskOutput {
    /// No further results.
    Solve,
    /// The posterior along the input.
    Posterior(PosteriorOutput),
    /// The path of the hyperparameters.
    Train(Box<TrainingOutput>),
    /// No further results.
    Likelihood,
    /// The evaluations of the model.
    Learn(Box<LearningOutput>),
    /// The points that were acquired, and what each step measured.
    Thompson(Box<ThompsonOutput>),
}

/// The results that several tasks have.
#[derive(Default)]
struct Shared<'a> {
    /// Outer steps, or the evaluations of a learner.
    steps: &'a [Step],
    /// Predictions along the input.
    curve: Option<&'a Curve>,
    /// The calibration of the predictions.
    calibration: Option<&'a CalibrationShares>,
}

/// The places of the results of [`Shared`], where a task has them.
#[derive(Default)]
struct SharedMut<'a> {
    steps: Option<&'a mut Vec<Step>>,
    curve: Option<&'a mut Option<Box<Curve>>>,
    calibration: Option<&'a mut Option<Box<CalibrationShares>>>,
}

impl TaskOutput {
    /// The empty output of a task, for instance of a case that failed.
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

    /// The results that several tasks have.
    fn shared(&self) -> Shared<'_> {
        match self {
            TaskOutput::Solve | TaskOutput::Likelihood => Shared::default(),
            TaskOutput::Posterior(PosteriorOutput { curve, calibration }) => {
                Shared { curve: curve.as_deref(), calibration: calibration.as_deref(), ..Shared::default() }
            }
            TaskOutput::Train(training) => Shared {
                steps: &training.steps,
                curve: training.curve.as_deref(),
                calibration: training.calibration.as_deref(),
            },
            TaskOutput::Learn(learning) => Shared {
                steps: &learning.looks,
                curve: learning.curve.as_deref(),
                calibration: learning.calibration.as_deref(),
            },
            TaskOutput::Thompson(thompson) => Shared { steps: &thompson.steps, ..Shared::default() },
        }
    }

    /// The places of the results that several tasks have.
    fn shared_mut(&mut self) -> SharedMut<'_> {
        match self {
            TaskOutput::Solve | TaskOutput::Likelihood => SharedMut::default(),
            TaskOutput::Posterior(PosteriorOutput { curve, calibration }) => {
                SharedMut { curve: Some(curve), calibration: Some(calibration), ..SharedMut::default() }
            }
            TaskOutput::Train(training) => SharedMut {
                steps: Some(&mut training.steps),
                curve: Some(&mut training.curve),
                calibration: Some(&mut training.calibration),
            },
            TaskOutput::Learn(learning) => SharedMut {
                steps: Some(&mut learning.looks),
                curve: Some(&mut learning.curve),
                calibration: Some(&mut learning.calibration),
            },
            TaskOutput::Thompson(thompson) => {
                SharedMut { steps: Some(&mut thompson.steps), ..SharedMut::default() }
            }
        }
    }

    /// The outer steps of training or of Thompson sampling, or the evaluations of a learner; empty for other tasks.
    pub fn steps(&self) -> &[Step] {
        self.shared().steps
    }

    /// Stores the steps that [`TaskOutput::steps`] returns, in a task that has them.
    pub fn set_steps(&mut self, steps: Vec<Step>) {
        if let Some(place) = self.shared_mut().steps {
            *place = steps;
        }
    }

    /// Predictions along the input.
    pub fn curve(&self) -> Option<&Curve> {
        self.shared().curve
    }

    /// Stores predictions along the input, in a task that predicts.
    pub fn set_curve(&mut self, found: Option<Box<Curve>>) {
        if let Some(place) = self.shared_mut().curve {
            *place = found;
        }
    }

    /// The calibration of the predictions on the test rows.
    pub fn calibration(&self) -> Option<&CalibrationShares> {
        self.shared().calibration
    }

    /// Stores the calibration of the predictions, in a task that predicts.
    pub fn set_calibration(&mut self, found: Option<Box<CalibrationShares>>) {
        if let Some(place) = self.shared_mut().calibration {
            *place = found;
        }
    }

    /// The hyperparameters that training or learning ended with. `None` for tasks that learn none, and where there are none: a
    /// case that did not end, or a learner without a model.
    pub fn learned(&self) -> Option<&Hyperparameters> {
        let learned = match self {
            TaskOutput::Train(training) => &training.hyperparameters,
            TaskOutput::Learn(learning) => &learning.hyperparameters,
            TaskOutput::Solve
            | TaskOutput::Posterior(_)
            | TaskOutput::Likelihood
            | TaskOutput::Thompson(_) => return None,
        };
        Some(learned).filter(|learned| !learned.is_empty())
    }

    /// The results of task `train`, if these are some.
    pub fn training(&self) -> Option<&TrainingOutput> {
        if let TaskOutput::Train(training) = self { Some(training) } else { None }
    }

    /// The results of task `learn`, if these are some.
    pub fn learning(&self) -> Option<&LearningOutput> {
        if let TaskOutput::Learn(learning) = self { Some(learning) } else { None }
    }

    /// The results of task `thompson`, if these are some.
    pub fn thompson(&self) -> Option<&ThompsonOutput> {
        if let TaskOutput::Thompson(thompson) = self { Some(thompson) } else { None }
    }

    /// Stores the best values of a random search, in a task that searches.
    pub fn set_random_search(&mut self, found: Vec<f64>) {
        if let TaskOutput::Thompson(thompson) = self {
            thompson.random_search = found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_output_is_of_its_task() {
        for task in TaskKind::ALL {
            assert_eq!(TaskOutput::empty(task).training().is_some(), task == TaskKind::Train);
            assert_eq!(TaskOutput::empty(task).learning().is_some(), task == TaskKind::Learn);
            assert_eq!(TaskOutput::empty(task).thompson().is_some(), task == TaskKind::Thompson);
        }
    }
}
