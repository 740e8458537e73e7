//! Problems on which solvers are compared.

use gpbench_record::Labels;

/// A problem on which solvers are compared: the names on all axes but those of solver and seed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupProblem {
    /// Data set, as named in the spec.
    pub dataset: String,
    /// Kernel, as named in the spec.
    pub kernel: String,
    /// Estimator, as named in the spec; absent for a task that has none.
    pub estimator: Option<String>,
}

impl GroupProblem {
    /// The problem that a case belongs to.
    pub fn of(labels: &Labels) -> GroupProblem {
        let Labels { dataset, kernel, estimator, .. } = labels.clone();
        GroupProblem { dataset, kernel, estimator }
    }
}
