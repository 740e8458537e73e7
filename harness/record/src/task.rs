//! What a case measures, with everything that its task needs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    FeatureEstimator, GradientEstimator, Inducing, Learning, LikelihoodEstimator, PathwiseTargets, Probes,
    Thompson, Training,
};

/// What a case measures, with everything that its task needs.
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
    /// Ask an objective where posterior samples are largest, again and again.
    Thompson(Box<Thompson>),
}

/// Which task, without what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// [`Task::Solve`].
    Solve,
    /// [`Task::Posterior`].
    Posterior,
    /// [`Task::Train`].
    Train,
    /// [`Task::Likelihood`].
    Likelihood,
    /// [`Task::Learn`].
    Learn,
    /// [`Task::Thompson`].
    Thompson,
}

/// What task `solve` needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Solve {
    /// Name on the estimator axis.
    pub estimator: String,
    /// Right-hand sides beside y.
    pub probes: Probes,
}

/// What task `posterior` needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Posterior {
    /// Name on the estimator axis.
    pub estimator: String,
    /// Right-hand sides beside y.
    pub targets: PathwiseTargets,
    /// Inducing points as the solver's unknowns; without them, the training rows are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inducing: Option<Inducing>,
}

/// What task `likelihood` needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LikelihoodStudy {
    /// Name on the estimator axis.
    pub estimator: String,
    /// How each estimate is made.
    pub method: LikelihoodEstimator,
    /// Number of independent estimates.
    pub repetitions: u64,
}

impl Task {
    /// Which task.
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

    /// The name on the estimator axis, of a task that has one.
    pub fn estimator(&self) -> Option<&str> {
        match self {
            Task::Solve(solve) => Some(&solve.estimator),
            Task::Posterior(posterior) => Some(&posterior.estimator),
            Task::Train(training) => Some(&training.estimator),
            Task::Likelihood(study) => Some(&study.estimator),
            Task::Thompson(thompson) => Some(&thompson.estimator),
            Task::Learn(_) => None,
        }
    }

    /// Right-hand sides beside y of the linear systems that are solved, where any are; of a training case, those of
    /// its steps.
    pub fn probes(&self) -> Option<Probes> {
        match self {
            Task::Solve(solve) => Some(solve.probes),
            Task::Posterior(posterior) => Some(Probes::Pathwise(posterior.targets)),
            Task::Train(training) => match training.gradient {
                GradientEstimator::Solutions { probes, .. } => Some(probes),
                GradientEstimator::Exact | GradientEstimator::Features(_) => None,
            },
            Task::Likelihood(study) => match study.method {
                LikelihoodEstimator::Solutions { probes, .. } => Some(probes),
                LikelihoodEstimator::Features(_) => None,
            },
            Task::Thompson(thompson) => Some(Probes::Pathwise(thompson.targets)),
            Task::Learn(_) => None,
        }
    }

    /// The estimator by random features, of a task that has one in place of solving systems.
    pub fn features(&self) -> Option<FeatureEstimator> {
        match self {
            Task::Solve(_) | Task::Posterior(_) | Task::Learn(_) | Task::Thompson(_) => None,
            Task::Train(training) => match training.gradient {
                GradientEstimator::Features(features) => Some(features),
                GradientEstimator::Exact | GradientEstimator::Solutions { .. } => None,
            },
            Task::Likelihood(study) => match study.method {
                LikelihoodEstimator::Features(features) => Some(features),
                LikelihoodEstimator::Solutions { .. } => None,
            },
        }
    }

    /// Whether each step or estimate solves for y twice.
    pub fn solves_twice(&self) -> bool {
        match self {
            Task::Solve(_) | Task::Posterior(_) | Task::Learn(_) | Task::Thompson(_) => false,
            Task::Train(training) => {
                matches!(training.gradient, GradientEstimator::Solutions { second_solve: true, .. })
            }
            Task::Likelihood(study) => {
                matches!(study.method, LikelihoodEstimator::Solutions { second_solve: true, .. })
            }
        }
    }

    /// What task `train` needs.
    pub fn training(&self) -> Option<&Training> {
        match self {
            Task::Train(training) => Some(training),
            Task::Solve(_)
            | Task::Posterior(_)
            | Task::Likelihood(_)
            | Task::Learn(_)
            | Task::Thompson(_) => None,
        }
    }

    /// The most outer steps, or looks at a learner, that the task makes.
    pub fn most_steps(&self) -> usize {
        match self {
            Task::Solve(_) | Task::Posterior(_) | Task::Likelihood(_) => 0,
            Task::Train(training) => usize::try_from(training.steps).unwrap_or(usize::MAX),
            Task::Thompson(thompson) => usize::try_from(thompson.steps).unwrap_or(usize::MAX),
            Task::Learn(learning) => learning.looks.len(),
        }
    }

    /// What task `learn` needs.
    pub fn learning(&self) -> Option<&Learning> {
        match self {
            Task::Learn(learning) => Some(learning),
            Task::Solve(_)
            | Task::Posterior(_)
            | Task::Train(_)
            | Task::Likelihood(_)
            | Task::Thompson(_) => None,
        }
    }

    /// What task `thompson` needs.
    pub fn thompson(&self) -> Option<&Thompson> {
        if let Task::Thompson(thompson) = self { Some(thompson) } else { None }
    }

    /// The number of right-hand sides of the systems whose solution is verified, y included; 1 where none are
    /// solved.
    pub fn right_hand_sides(&self) -> usize {
        1 + match self {
            Task::Solve(solve) => solve.probes.count(),
            Task::Posterior(posterior) => posterior.targets.probes,
            Task::Train(training) => training.prediction.targets.probes,
            Task::Thompson(thompson) => thompson.targets.probes,
            Task::Likelihood(_) => self.probes().map_or(0, |probes| probes.count()),
            Task::Learn(_) => 0,
        }
    }

    /// The inducing points, of a task that has them.
    pub fn inducing(&self) -> Option<Inducing> {
        match self {
            Task::Posterior(posterior) => posterior.inducing,
            Task::Learn(learning) => learning.inducing,
            Task::Thompson(thompson) => thompson.inducing,
            Task::Solve(_) | Task::Train(_) | Task::Likelihood(_) => None,
        }
    }
}

impl TaskKind {
    /// Every task.
    pub const ALL: [TaskKind; 6] = [
        TaskKind::Solve,
        TaskKind::Posterior,
        TaskKind::Train,
        TaskKind::Likelihood,
        TaskKind::Learn,
        TaskKind::Thompson,
    ];

    /// The name in specs and journals.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskKind::Solve => "solve",
            TaskKind::Posterior => "posterior",
            TaskKind::Train => "train",
            TaskKind::Likelihood => "likelihood",
            TaskKind::Learn => "learn",
            TaskKind::Thompson => "thompson",
        }
    }
}

impl fmt::Display for TaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskOutput;

    #[test]
    fn every_task_is_listed_once() {
        // Another variant does not compile here, so that it is not missing in the list.
        let place = |task| match task {
            TaskKind::Solve => 0,
            TaskKind::Posterior => 1,
            TaskKind::Train => 2,
            TaskKind::Likelihood => 3,
            TaskKind::Learn => 4,
            TaskKind::Thompson => 5,
        };
        assert_eq!(TaskKind::ALL.map(place), [0, 1, 2, 3, 4, 5]);
        for task in TaskKind::ALL {
            assert_eq!(serde_json::to_string(&task).unwrap(), format!("\"{task}\""));
            assert_eq!(TaskOutput::empty(task).training().is_some(), task == TaskKind::Train);
            assert_eq!(TaskOutput::empty(task).learning().is_some(), task == TaskKind::Learn);
            assert_eq!(TaskOutput::empty(task).thompson().is_some(), task == TaskKind::Thompson);
        }
    }
}
