//! A small case that the tests share.
#![allow(dead_code)]

use std::collections::BTreeMap;

use gpbench_host::plugin::Terms;
use gpbench_record::{
    Budget, Case, Dataset, Estimator, EstimatorMethod, Frequencies, GpDraw, Kernel, Precision, Solver,
    Source, Task,
};

/// A draw from a Gaussian process with `n` rows in two dimensions, and three probes.
pub(crate) fn case(n: usize) -> Case {
    Case {
        task: Task::Posterior,
        dataset: Dataset {
            name: "draw".into(),
            source: Source::GpDraw(GpDraw {
                n,
                n_test: n / 10,
                d: 2,
                kernel: "matern32".into(),
                signal_scale: 1.0,
                noise_scale: 0.3,
                length_scale: 0.4,
            }),
            split: 0,
            subsample: None,
        },
        kernel: Kernel {
            name: "matern32".into(),
            family: "matern32".into(),
            signal_scale: 1.1,
            noise_scale: 0.3,
            length_scale: vec![1.2, 1.5],
            origin: "given".into(),
        },
        estimator: Estimator {
            name: "pathwise".into(),
            method: EstimatorMethod::Pathwise,
            probes: 3,
            features: 200,
            frequencies: Frequencies::MultivariateT,
        },
        solver: solver("cg"),
        budget: Budget::default(),
        precision: Precision::F64,
        seed: 7,
        repeat: 0,
    }
}

/// A solver with its own defaults.
pub(crate) fn solver(id: &str) -> Solver {
    Solver { name: id.into(), plugin: id.into(), params: BTreeMap::new() }
}

/// Terms without bounds, on one thread.
pub(crate) fn terms() -> Terms {
    Terms { tolerance: None, max_epochs: None, seconds: None, threads: 1, seed: 1 }
}
