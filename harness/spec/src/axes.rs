//! The axes of the matrix: names, and the entries that they resolve to.

mod dataset;
mod estimator;
mod grid;
mod inducing;
mod kernel;
mod numbers;
mod param;
mod rows;
mod rule;
mod solver;

use std::collections::HashSet;

use gpbench_record as record;

use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::source::At;
use crate::tables::matrix::Names;
use crate::task_keys::{TaskKey, TaskKeys};
use crate::typed::Typed;

pub(crate) use dataset::DatasetEntry;
pub(crate) use estimator::{Basis, EstimatorEntry, Method};
pub(crate) use kernel::KernelEntry;
pub(crate) use solver::SolverEntry;

/// Largest number of cases of a plan: each takes about a kilobyte of memory, and seconds to days to run.
pub(crate) const MOST_CASES: usize = 100_000;

/// Every axis, resolved. An entry that cannot be resolved is absent and has been reported.
pub(crate) struct Axes<'a> {
    pub(crate) datasets: Vec<DatasetEntry>,
    pub(crate) kernels: Vec<KernelEntry>,
    /// `None` for a task that has no such axis.
    pub(crate) estimators: Option<Vec<EstimatorEntry>>,
    pub(crate) solvers: Vec<SolverEntry<'a>>,
    /// Names on each axis, resolved or not, those of a grid's points in place of its entry's.
    pub(crate) names: record::Axes,
    /// Names of solvers as typed.
    pub(crate) solver_entries: Vec<String>,
}

/// The estimators of a task.
#[derive(Clone, Copy)]
pub(crate) struct Estimators {
    /// The methods that the task has.
    pub(crate) methods: &'static [Method],
    /// The default name on the axis.
    pub(crate) default: &'static str,
}

impl<'a> Axes<'a> {
    /// Resolves the names on the axes of a spec.
    pub(crate) fn resolve(
        typed: &Typed,
        catalog: &'a Catalog,
        task: TaskKeys,
        of_task: Option<Estimators>,
        mistakes: &mut Mistakes,
    ) -> Self {
        let root = &typed.root;
        let matrix = &root.matrix;
        if !typed.axes_overridden {
            unused("dataset", &matrix.dataset, root.datasets.names(), mistakes);
            unused("kernel", &matrix.kernel, root.kernels.names(), mistakes);
            unused("solver", &matrix.solver, root.solvers.names(), mistakes);
            // Without an axis of its own the estimator's table still refines the default. A task without the axis
            // reports both.
            let estimator = of_task.and(matrix.estimator.clone());
            unused("estimator", &estimator, root.estimators.names(), mistakes);
        }
        let default =
            of_task.map(|of_task| At { value: of_task.default.to_owned(), at: crate::source::START });
        let dataset = entries("dataset", matrix.dataset.as_ref(), mistakes);
        let kernel = entries("kernel", matrix.kernel.as_ref(), mistakes);
        let estimator = match (&matrix.estimator, &default) {
            (Some(names), Some(_)) => entries("estimator", Some(names), mistakes),
            (_, default) => default.iter().collect(),
        };
        let solver = entries("solver", matrix.solver.as_ref(), mistakes);
        let names = |axis: &[&At<String>]| axis.iter().map(|name| name.value.clone()).collect::<Vec<_>>();
        let (datasets_by_name, solver_entries) = (names(&dataset), names(&solver));
        let (kernel_names, estimator_names) = (names(&kernel), names(&estimator));
        let datasets = dataset
            .iter()
            .filter_map(|name| dataset::resolve(name, typed, catalog, task, mistakes))
            .collect();
        let kernels = kernel.iter().filter_map(|name| kernel::resolve(name, root, task, mistakes)).collect();
        let estimators = of_task.map(|of_task| {
            let resolve =
                |name: &&At<String>| estimator::resolve(name, root, task, of_task.methods, mistakes);
            estimator.iter().filter_map(resolve).collect()
        });
        let (solvers, solver_names) = solvers(&solver, typed, catalog, task, &datasets_by_name, mistakes);
        let names = record::Axes {
            dataset: datasets_by_name,
            kernel: kernel_names,
            estimator: estimator_names,
            solver: solver_names,
        };
        Self { datasets, kernels, estimators, solvers, names, solver_entries }
    }

    /// Reports names that nothing has, and files that cannot be read, in a spec whose task is unknown.
    pub(crate) fn check_names(typed: &Typed, catalog: &Catalog, mistakes: &mut Mistakes) {
        let (root, matrix) = (&typed.root, &typed.root.matrix);
        let task = TaskKeys { task: record::TaskKind::Posterior, keys: TaskKey::ALL };
        for name in entries("dataset", matrix.dataset.as_ref(), mistakes) {
            dataset::resolve(name, typed, catalog, task, mistakes);
        }
        for name in entries("kernel", matrix.kernel.as_ref(), mistakes) {
            kernel::resolve(name, root, task, mistakes);
        }
        for name in entries("solver", matrix.solver.as_ref(), mistakes) {
            solver::check_name(name, typed, catalog, mistakes);
        }
    }

    /// Reports data sets that collapse duplicates, which a task does not take for the reason `why`.
    pub(crate) fn refuse_collapse(&self, why: &str, mistakes: &mut Mistakes) {
        for at in self.datasets.iter().filter_map(|dataset| dataset.collapse.as_ref()) {
            mistakes.add(at, why, "remove it".to_owned());
        }
    }
}

/// The entries of the solver axis, and their names. One that cannot be resolved has a name only.
fn solvers<'a>(
    axis: &[&At<String>],
    typed: &Typed,
    catalog: &'a Catalog,
    task: TaskKeys,
    datasets: &[String],
    mistakes: &mut Mistakes,
) -> (Vec<SolverEntry<'a>>, Vec<String>) {
    let (mut solvers, mut names, mut distinct) = (Vec::new(), Vec::new(), HashSet::new());
    for name in axis {
        let found = solver::resolve(name, typed, catalog, task, datasets, mistakes);
        let own = match found.is_empty() {
            true => vec![name.value.clone()],
            false => found.iter().map(|entry| entry.name.clone()).collect(),
        };
        if let Some(twice) = own.iter().find(|own| !distinct.insert((*own).clone())) {
            mistakes.add(&name.at, format!("solver `{twice}` occurs twice on its axis"), None);
        }
        names.extend(own);
        solvers.extend(found);
        // Grids multiply. Beyond this number the plan is refused anyway, so no further entries are made.
        if solvers.len() > MOST_CASES {
            break;
        }
    }
    (solvers, names)
}

/// The entries of an axis; reports that there are none or that one occurs twice.
fn entries<'n>(axis: &str, names: Option<&'n Names>, mistakes: &mut Mistakes) -> Vec<&'n At<String>> {
    let Some(names) = names else { return Vec::new() };
    if names.value.is_empty() {
        mistakes.add(&names.at, format!("the {axis} axis is empty"), "give it at least one entry".to_owned());
    }
    let mut distinct: Vec<&At<String>> = Vec::new();
    for name in &names.value {
        if distinct.iter().any(|n| n.value == name.value) {
            mistakes.add(&name.at, format!("{axis} `{}` occurs twice on its axis", name.value), None);
        } else {
            distinct.push(name);
        }
    }
    distinct
}

/// Reports tables that no entry of their axis uses.
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
