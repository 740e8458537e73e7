//! The rules of a task for a spec.

use gpbench_record::Task;

use crate::axes::{Axes, DatasetEntry, EstimatorEntry, Estimators, KernelEntry, SolverEntry};
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::source::At;
use crate::task_keys::TaskKeys;
use crate::typed::Typed;

/// The rules of a task for a spec.
pub(crate) trait Rules<'a>: Sized {
    /// The task, and those keys of [`TaskKey`](crate::task_keys::TaskKey) that it has.
    const KEYS: TaskKeys;
    /// Its estimators; `None` for a task without that axis.
    const ESTIMATORS: Option<Estimators>;

    /// Reads the task's own keys.
    fn new(typed: &'a Typed, catalog: &'a Catalog, mistakes: &mut Mistakes) -> Self;

    /// Reports entries of the axes that conflict with the task's own keys.
    fn check_axes(&self, _axes: &Axes<'_>, _mistakes: &mut Mistakes) {}

    /// The constant prior mean that training starts from, where it is trained.
    fn prior_mean(&self) -> Option<f64> {
        None
    }

    /// Share of all rows that are kept for validation.
    fn validation(&self) -> Option<&At<f64>> {
        None
    }

    /// The task's part of a case; `None` if there is none, which has been reported.
    fn task(&self, cell: &CellEntries<'_>, mistakes: &mut Mistakes) -> Option<Task>;
}

/// One entry of each axis that the task has, and a seed.
pub(crate) struct CellEntries<'a> {
    pub(crate) dataset: &'a DatasetEntry,
    pub(crate) kernel: &'a KernelEntry,
    pub(crate) estimator: Option<&'a EstimatorEntry>,
    pub(crate) solver: &'a SolverEntry<'a>,
    pub(crate) seed: u64,
}
