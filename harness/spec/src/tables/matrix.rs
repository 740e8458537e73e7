//! `[matrix]`: the axes.

use crate::keys::{Keys, list, name};
use crate::source::At;

/// A list of names.
pub(crate) type Names = At<Vec<At<String>>>;

#[derive(Debug, Clone)]
pub(crate) struct Matrix {
    pub(crate) dataset: Option<Names>,
    pub(crate) kernel: Option<Names>,
    pub(crate) estimator: Option<Names>,
    pub(crate) solver: Option<Names>,
}

pub(crate) fn read(keys: &mut Keys<'_>) -> Matrix {
    Matrix {
        dataset: keys.required(
            "dataset",
            list(name()),
            "for instance dataset = [\"pol\", \"bike\"]",
            "Data sets: names of the registry, built-in sets, or tables [dataset.NAME].",
        ),
        kernel: keys.required(
            "kernel",
            list(name()),
            "for instance kernel = [\"matern32\"]",
            "Kernels: families, or tables [kernel.NAME].",
        ),
        estimator: keys.derived(
            "estimator",
            list(name()),
            "the task's own: `standard` or `pathwise`",
            "Estimators: methods, or tables [estimator.NAME].",
        ),
        solver: keys.required(
            "solver",
            list(name()),
            "for instance solver = [\"cholesky\", \"cg\"]",
            "Solvers: ids that plugins offer, or tables [solver.NAME].",
        ),
    }
}
