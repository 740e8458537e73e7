//! A resolved case: one cell of a spec's matrix, with all names and defaults resolved.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::hash::hash_json;
use crate::{
    Dataset, Fingerprint, GridPoint, Hyperparameters, Kernel, OriginBase, Posterior, Solver, Target, Task,
    TaskOutput, text,
};

/// One cell of the plan.
///
/// It contains exactly the choices that can change the result. Paths, for instance, are in [`crate::Job`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The task.
    pub task: Task,
    /// The data set and its split.
    pub dataset: Dataset,
    /// The covariance, with its hyperparameters as numbers.
    pub kernel: Kernel,
    /// The solver or learner, with all of its parameters.
    pub solver: Solver,
    /// Limits of a solve; in a training case, of each outer step.
    pub budget: Budget,
    /// The quality at which the case ends, unless it ends earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_at: Option<Target>,
    /// The spec's seed of this case, which selects the split and is part of the key of every random stream.
    pub seed: u64,
    /// 0-based count of timing repeats.
    pub repeat: u32,
}

/// The names of a case on the spec's axes, by which tables and charts group. `Display` writes one line and cuts long
/// names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Labels {
    /// Data set, as named in the spec.
    pub dataset: String,
    /// Kernel, as named in the spec.
    pub kernel: String,
    /// Estimator, as named in the spec; absent for a task that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimator: Option<String>,
    /// Solver, as named in the spec.
    pub solver: String,
    /// The spec's seed.
    pub seed: u64,
    /// 0-based count of timing repeats.
    pub repeat: u32,
}

impl Labels {
    /// The key of a block: data set, kernel, estimator and seed. Times within a block are compared with each other,
    /// so a block is never divided among machines.
    pub fn block(&self) -> (&str, &str, Option<&str>, u64) {
        (&self.dataset, &self.kernel, self.estimator.as_deref(), self.seed)
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Labels { dataset, kernel, estimator, solver, seed, repeat } = self;
        for name in [Some(dataset), Some(kernel), estimator.as_ref(), Some(solver)].into_iter().flatten() {
            write!(f, "{}/", text::cut(&text::line(name), text::NAME))?;
        }
        write!(f, "seed {seed}")?;
        if *repeat > 0 { write!(f, "/repeat {repeat}") } else { Ok(()) }
    }
}

/// Limits of a solve; every limit is optional.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Relative residual norm to reach, for y and for the mean over probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Epochs: multiples of n^2 kernel entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_epochs: Option<f64>,
    /// Seconds of prepare and solve together; of a training case, over all outer steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Bytes of memory of the worker process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

impl Case {
    /// The names of this case on the spec's axes.
    pub fn labels(&self) -> Labels {
        Labels {
            dataset: self.dataset.name.clone(),
            kernel: self.kernel.name.clone(),
            estimator: self.task.estimator().map(str::to_owned),
            solver: self.solver.name.clone(),
            seed: self.seed,
            repeat: self.repeat,
        }
    }

    /// The point of a grid of parameters that this case is, if it is one.
    pub fn grid(&self) -> Option<&GridPoint> {
        self.solver.grid.as_ref().or_else(|| self.task.learning()?.grid.as_ref())
    }

    /// The stable id of this case run under `fingerprint`: 16 hexadecimal digits
    /// of a SHA-256 over everything that can change the result.
    pub fn id(&self, fingerprint: &Fingerprint) -> String {
        hash_json(&(self, fingerprint))
    }

    /// The case that is verified in place of this one, given its `output`: for training, the prediction at the final
    /// hyperparameters. `None` where this case is verified itself.
    pub fn verified(&self, output: &TaskOutput) -> Option<Case> {
        self.prediction(&output.training()?.hyperparameters)
    }

    /// The prediction that a training case ends with: the posterior under these hyperparameters. `None` for
    /// another task, or where a scale is not among the hyperparameters.
    pub fn prediction(&self, hyperparameters: &Hyperparameters) -> Option<Case> {
        let Task::Train(training) = &self.task else { return None };
        let mut case = self.clone();
        case.kernel = self.kernel.with_hyperparameters(hyperparameters)?;
        case.kernel.origin = OriginBase::Trained.into();
        case.solver.params.extend(training.prediction.params.clone());
        case.task = Task::Posterior(Posterior {
            estimator: training.estimator.clone(),
            targets: training.prediction.targets,
            inducing: None,
        });
        Some(case)
    }
}
