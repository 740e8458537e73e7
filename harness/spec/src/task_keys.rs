//! Keys that belong to some tasks only.

use gpbench_record::TaskKind;

use crate::error::Mistakes;
use crate::source::Location;

/// A key that belongs to some tasks only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TaskKey {
    /// `[train]`.
    Train,
    /// `[likelihood]`.
    Likelihood,
    /// `[learn]`.
    Learn,
    /// `[thompson]`.
    Thompson,
    /// `from = "objective"` of a data set.
    Objective,
    /// `predictions = true` of a data set.
    TestPredictions,
    /// `network` or `random` of a kernel, or the linear family.
    Network,
    /// `length_scale = "shared"` of a kernel.
    SharedLengthScale,
    /// `fit` of a kernel's hyperparameters.
    Fit,
    /// Hyperparameters from the data.
    DataStart,
    /// `inducing` of a solver.
    Inducing,
    /// `quadrature` of a solver.
    Quadrature,
    /// `prediction` of a solver.
    Prediction,
    /// `warm_start` of an estimator.
    WarmStart,
    /// `second_solve` of an estimator.
    SecondSolve,
}

impl TaskKey {
    /// Every key.
    pub(crate) const ALL: &[TaskKey] = &[
        TaskKey::Train,
        TaskKey::Likelihood,
        TaskKey::Learn,
        TaskKey::Thompson,
        TaskKey::Objective,
        TaskKey::TestPredictions,
        TaskKey::Network,
        TaskKey::SharedLengthScale,
        TaskKey::Fit,
        TaskKey::DataStart,
        TaskKey::Inducing,
        TaskKey::Quadrature,
        TaskKey::Prediction,
        TaskKey::WarmStart,
        TaskKey::SecondSolve,
    ];
}

/// A task, and those keys of [`TaskKey`] that it has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskKeys {
    /// The task.
    pub(crate) task: TaskKind,
    /// Its keys.
    pub(crate) keys: &'static [TaskKey],
}

impl TaskKeys {
    /// Whether the task has a key.
    pub(crate) fn has(self, key: TaskKey) -> bool {
        self.keys.contains(&key)
    }

    /// Reports a key that the spec gives and the task does not have; whether the task has it.
    pub(crate) fn check(self, key: TaskKey, at: Option<&Location>, mistakes: &mut Mistakes) -> bool {
        if let Some(at) = at.filter(|_| !self.has(key)) {
            let (what, hint) = key.refusal();
            mistakes.add(at, what, hint.to_owned());
        }
        self.has(key)
    }
}

impl TaskKey {
    /// The message and the hint where a task does not have it.
    fn refusal(self) -> (&'static str, &'static str) {
        match self {
            TaskKey::Train => {
                ("[train] is for task \"train\": here it has no effect", "write task = \"train\"")
            }
            TaskKey::Likelihood => (
                "[likelihood] is for task \"likelihood\": here it has no effect",
                "write task = \"likelihood\"",
            ),
            TaskKey::Learn => {
                ("[learn] is for task \"learn\": here it has no effect", "write task = \"learn\"")
            }
            TaskKey::Thompson => {
                ("[thompson] is for task \"thompson\": here it has no effect", "write task = \"thompson\"")
            }
            TaskKey::Objective => (
                "an objective has no test rows, and only task \"thompson\" asks it again",
                "draw a set with from = \"gp-draw\"",
            ),
            TaskKey::TestPredictions => (
                "`predictions` has no effect: this task predicts no test rows",
                "it is for tasks \"posterior\", \"train\" and \"learn\"",
            ),
            TaskKey::Network => (
                "networks and linear kernels are for learners, in task \"learn\"",
                "use a stationary family on the inputs",
            ),
            TaskKey::SharedLengthScale => (
                "a shared length scale is fitted by tasks \"train\" and \"learn\" only",
                "write one number, which all inputs share",
            ),
            TaskKey::Fit => (
                "hyperparameters are fitted by task \"train\" only",
                "train, and give the scales that it ends with",
            ),
            TaskKey::DataStart => (
                "a search has no data before it begins: its hyperparameters cannot come from them",
                "write \"generating\", or give the scales",
            ),
            TaskKey::Inducing => (
                "weights of inducing points give neither residuals nor a gradient of the likelihood",
                "use task = \"posterior\" or \"thompson\"",
            ),
            TaskKey::Quadrature => (
                "`quadrature` has no effect: this task does not estimate log |H|",
                "it is for task \"likelihood\"",
            ),
            TaskKey::Prediction => (
                "`prediction` has no effect: this task does not train",
                "it is for the prediction that ends task \"train\"; use `params`",
            ),
            TaskKey::WarmStart => (
                "`warm_start` has no effect: this task has no outer steps",
                "it carries solutions from one outer step of task \"train\" to the next",
            ),
            TaskKey::SecondSolve => (
                "`second_solve` has no effect: this task makes no gradient of solutions",
                "it is for tasks \"train\" and \"likelihood\"",
            ),
        }
    }
}
