//! Task `solve`.

use gpbench_record::{self as record, Task, TaskKind};

use super::rules::{CellEntries, Rules};
use crate::axes::{Basis, Estimators, Method};
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::task_keys::{TaskKey, TaskKeys};
use crate::typed::Typed;

pub(crate) struct Solve;

impl Rules<'_> for Solve {
    const KEYS: TaskKeys = TaskKeys { task: TaskKind::Solve, keys: &[TaskKey::DataStart] };
    const ESTIMATORS: Option<Estimators> =
        Some(Estimators { methods: &[Method::Pathwise, Method::Standard], default: "standard" });

    fn new(_: &Typed, _: &Catalog, _: &mut Mistakes) -> Self {
        Solve
    }

    fn task(&self, cell: &CellEntries<'_>, _: &mut Mistakes) -> Option<Task> {
        let estimator = cell.estimator?;
        let Basis::Solutions(probes) = estimator.basis() else { return None };
        Some(Task::Solve(record::Solve { estimator: estimator.name.clone(), probes }))
    }
}
