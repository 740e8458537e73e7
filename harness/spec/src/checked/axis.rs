//! The axes of the matrix: names, and what each stands for.

use gpbench_record::{Estimator, Task};

use super::dataset::{self, DatasetEntry};
use super::estimator;
use super::kernel::{self, KernelEntry};
use super::solver::{self, SolverEntry};
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::source::At;
use crate::typed::{Names, Typed};

/// Every axis, resolved. An entry that could not be is missing here and has left a mistake.
pub(crate) struct Axes<'a> {
    pub(crate) datasets: Vec<DatasetEntry>,
    pub(crate) kernels: Vec<KernelEntry>,
    pub(crate) estimators: Vec<Estimator>,
    pub(crate) solvers: Vec<SolverEntry<'a>>,
    /// Names as typed on each axis, resolved or not.
    pub(crate) dataset_names: Vec<String>,
    pub(crate) kernel_names: Vec<String>,
    pub(crate) estimator_names: Vec<String>,
    pub(crate) solver_names: Vec<String>,
}

impl<'a> Axes<'a> {
    pub(crate) fn resolve(typed: &Typed, catalog: &'a Catalog, task: Task, mistakes: &mut Mistakes) -> Self {
        let root = &typed.root;
        let datasets = entries("dataset", root.matrix.dataset.as_ref(), mistakes);
        let kernels = entries("kernel", root.matrix.kernel.as_ref(), mistakes);
        let estimators = entries("estimator", root.matrix.estimator.as_ref(), mistakes);
        let solvers = entries("solver", root.matrix.solver.as_ref(), mistakes);
        if !typed.axes_overridden {
            unused("dataset", &root.matrix.dataset, root.datasets.iter().map(|t| &t.name), mistakes);
            unused("kernel", &root.matrix.kernel, root.kernels.iter().map(|t| &t.name), mistakes);
            unused("solver", &root.matrix.solver, root.solvers.iter().map(|t| &t.name), mistakes);
            // Without an axis of its own the estimator's table still tells how to estimate.
            unused("estimator", &root.matrix.estimator, root.estimators.iter().map(|t| &t.name), mistakes);
        }
        let names = |axis: &[&At<String>]| axis.iter().map(|n| n.value.clone()).collect::<Vec<_>>();
        let dataset_names = names(&datasets);
        let estimator_names = if root.matrix.estimator.is_some() {
            names(&estimators)
        } else {
            vec![estimator::default_name(task)]
        };
        Self {
            kernel_names: names(&kernels),
            solver_names: names(&solvers),
            datasets: datasets
                .iter()
                .filter_map(|name| dataset::resolve(name, typed, catalog, mistakes))
                .collect(),
            kernels: kernels.iter().filter_map(|name| kernel::resolve(name, root, task, mistakes)).collect(),
            estimators: match root.matrix.estimator {
                Some(_) => estimators
                    .iter()
                    .filter_map(|name| estimator::resolve(name, root, task, mistakes))
                    .collect(),
                None => estimator::default(root, task, mistakes).into_iter().collect(),
            },
            solvers: solvers
                .iter()
                .filter_map(|name| solver::resolve(name, typed, catalog, task, &dataset_names, mistakes))
                .collect(),
            dataset_names,
            estimator_names,
        }
    }
}

/// The entries of an axis, told if there are none or if one stands twice.
fn entries<'n>(axis: &str, names: Option<&'n Names>, mistakes: &mut Mistakes) -> Vec<&'n At<String>> {
    let Some(names) = names else { return Vec::new() };
    if names.value.is_empty() {
        mistakes.add(&names.at, format!("the {axis} axis is empty"), "give it at least one entry".to_owned());
    }
    let mut distinct: Vec<&At<String>> = Vec::new();
    for name in &names.value {
        if distinct.iter().any(|n| n.value == name.value) {
            mistakes.add(&name.at, format!("{axis} `{}` stands twice on its axis", name.value), None);
        } else {
            distinct.push(name);
        }
    }
    distinct
}

/// Tells tables that no entry of their axis uses.
fn unused<'n>(
    axis: &str,
    names: &Option<Names>,
    tables: impl Iterator<Item = &'n At<String>>,
    mistakes: &mut Mistakes,
) {
    let Some(names) = names else { return };
    for table in tables.filter(|table| !names.value.iter().any(|n| n.value == table.value)) {
        let hint = format!("add it to `{axis}` in [matrix] or remove the table");
        mistakes.add(&table.at, format!("[{axis}.{}] is not on the {axis} axis", table.value), hint);
    }
}
