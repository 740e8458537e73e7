//! Cases and rows for the tests of other crates. A feature for them would compile all crates above this one twice.

use std::collections::BTreeMap;

use crate::{
    Budget, Case, CaseStatus, Dataset, Family, Frequencies, GpDraw, Kernel, Metrics, OriginBase,
    PathwiseTargets, Posterior, PriorSource, Row, Solver, Source, Task, TaskOutput,
};

/// A posterior of 30 rows drawn from a Gaussian process, with 4 pathwise targets, by solver `solver` of plugin `cg`.
pub fn case(solver: &str) -> Case {
    let prior = PriorSource::Features { features: 64, frequencies: Frequencies::MultivariateT };
    Case {
        task: Task::Posterior(Posterior {
            estimator: "pathwise".into(),
            targets: PathwiseTargets { probes: 4, prior },
            inducing: None,
        }),
        dataset: Dataset::new(
            "draw",
            Source::GpDraw(GpDraw {
                n: 30,
                n_test: 5,
                d: 2,
                kernel: Family::Matern32,
                signal_scale: 1.0,
                noise_scale: 0.1,
                length_scale: 0.3,
            }),
        ),
        kernel: Kernel {
            name: "matern32".into(),
            family: Family::Matern32.into(),
            signal_scale: 1.0,
            noise_scale: 0.1,
            length_scale: vec![1.0],
            mean: None,
            origin: OriginBase::Given.into(),
            network: None,
            start: None,
        },
        solver: Solver { name: solver.into(), plugin: "cg".into(), params: BTreeMap::new(), grid: None },
        budget: Budget { tolerance: Some(0.01), ..Budget::default() },
        seed: 0,
        stop_at: None,
        repeat: 0,
    }
}

/// The `ok` row of a case, with these metrics. Its id is its labels.
pub fn row(case: Case, metrics: &[(&str, f64)]) -> Row {
    let labels = case.labels();
    Row {
        id: labels.to_string(),
        labels,
        status: CaseStatus::Ok,
        reason: String::new(),
        n: Some(30),
        d: Some(2),
        metrics: metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect::<Metrics>(),
        solver_values: BTreeMap::new(),
        trace: Vec::new(),
        output: TaskOutput::empty(case.task.kind()),
        units: None,
        predictions: None,
        log_tail: String::new(),
        reproducible: true,
        lacks_exact: false,
        unplanned_parts: Vec::new(),
        reused_from: None,
        environment: None,
        place: None,
        finished: "2026-01-01T00:00:00Z".into(),
        case,
    }
}
