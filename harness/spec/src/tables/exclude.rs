//! `[[exclude]]`: cells left out of the product of the axes.

use super::matrix::Names;
use crate::keys::{COUNT_OR_ZERO, Keys, list, name, whole};
use crate::source::At;

#[derive(Debug, Clone)]
pub(crate) struct Exclude {
    pub(crate) dataset: Option<Names>,
    pub(crate) kernel: Option<Names>,
    pub(crate) estimator: Option<Names>,
    pub(crate) solver: Option<Names>,
    pub(crate) seed: Option<At<Vec<At<u64>>>>,
}

pub(crate) fn read(keys: &mut Keys<'_>) -> Exclude {
    let mut names = |axis, doc| keys.optional(axis, list(name()), doc);
    Exclude {
        dataset: names("dataset", "Data sets of the cells to leave out."),
        kernel: names("kernel", "Kernels of the cells to leave out."),
        estimator: names("estimator", "Estimators of the cells to leave out."),
        solver: names("solver", "Solvers of the cells to leave out."),
        seed: keys.optional("seed", list(whole(COUNT_OR_ZERO)), "Seeds of the cells to leave out."),
    }
}
