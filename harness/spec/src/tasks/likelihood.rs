//! Task `likelihood`.

use gpbench_record::{LikelihoodEstimator, LikelihoodStudy, Task, TaskKind};

use super::rules::{CellEntries, Rules};
use crate::axes::{Axes, Basis, Estimators, Method};
use crate::catalog::Catalog;
use crate::error::Mistakes;
use crate::task_keys::{TaskKey, TaskKeys};
use crate::typed::Typed;

pub(crate) struct Likelihood {
    repetitions: u64,
}

impl Rules<'_> for Likelihood {
    const KEYS: TaskKeys = TaskKeys {
        task: TaskKind::Likelihood,
        keys: &[TaskKey::Likelihood, TaskKey::DataStart, TaskKey::Quadrature, TaskKey::SecondSolve],
    };
    const ESTIMATORS: Option<Estimators> = Some(Estimators {
        methods: &[Method::Pathwise, Method::Standard, Method::Rff, Method::SsRff],
        default: "standard",
    });

    fn new(typed: &Typed, _: &Catalog, _: &mut Mistakes) -> Self {
        Likelihood { repetitions: typed.root.likelihood.value.repetitions.value }
    }

    fn check_axes(&self, axes: &Axes<'_>, mistakes: &mut Mistakes) {
        axes.estimators.iter().flatten().for_each(|estimator| estimator.check_traces(mistakes));
        let why = "`collapse_duplicates` does not go with estimates of the likelihood, which are of all rows";
        axes.refuse_collapse(why, mistakes);
    }

    fn task(&self, cell: &CellEntries<'_>, _: &mut Mistakes) -> Option<Task> {
        let CellEntries { estimator: Some(estimator), solver, .. } = cell else { return None };
        let method = match estimator.basis() {
            Basis::Solutions(probes) => LikelihoodEstimator::Solutions {
                probes,
                second_solve: estimator.second_solve(),
                quadrature: solver.quadrature,
            },
            Basis::Features(features) => LikelihoodEstimator::Features(features),
            Basis::Exact | Basis::Bound(_) => return None,
        };
        let (estimator, repetitions) = (estimator.name.clone(), self.repetitions);
        Some(Task::Likelihood(LikelihoodStudy { estimator, method, repetitions }))
    }
}
