//! Task `posterior`.

use gpbench_record::{self as record, Task, TaskKind};

use super::rules::{CellEntries, Rules};
use crate::axes::{Estimators, Method};
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::task_keys::{TaskKey, TaskKeys};
use crate::typed::Typed;

pub(crate) struct Posterior;

impl Rules<'_> for Posterior {
    const KEYS: TaskKeys = TaskKeys {
        task: TaskKind::Posterior,
        keys: &[TaskKey::TestPredictions, TaskKey::DataStart, TaskKey::Inducing],
    };
    // Standard probes give no posterior samples.
    const ESTIMATORS: Option<Estimators> =
        Some(Estimators { methods: &[Method::Pathwise], default: "pathwise" });

    fn new(_: &Typed, _: &Catalog, _: &mut Mistakes) -> Self {
        Posterior
    }

    fn task(&self, cell: &CellEntries<'_>, _: &mut Mistakes) -> Option<Task> {
        let estimator = cell.estimator?;
        Some(Task::Posterior(record::Posterior {
            estimator: estimator.name.clone(),
            targets: estimator.targets(),
            inducing: cell.solver.inducing,
        }))
    }
}
