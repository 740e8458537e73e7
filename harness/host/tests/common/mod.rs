//! A small case that the tests share.
#![allow(dead_code)]

pub(crate) mod features;
pub(crate) mod worker;

use std::collections::BTreeMap;
use std::path::Path;

use gpbench_host::plugin::{CallError, Ending, HostTable, Library, Observer, Session, SolverObject, Terms};
use gpbench_host::system::System;
use gpbench_record::{
    Budget, Case, Clock, Dataset, Estimator, EstimatorMethod, Frequencies, GpDraw, Kernel, Param, Precision,
    ProbeDistribution, Solver, Source, Task,
};
use gpbench_sdk as sdk;
use ndarray::{Array2, ShapeBuilder};

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
            fractions: None,
            subsample: None,
            collapse_duplicates: false,
        },
        kernel: Kernel {
            name: "matern32".into(),
            family: "matern32".into(),
            signal_scale: 1.1,
            noise_scale: 0.3,
            length_scale: vec![1.2, 1.5],
            mean: None,
            origin: "given".into(),
        },
        estimator: Estimator {
            name: "pathwise".into(),
            method: EstimatorMethod::Pathwise,
            probes: 3,
            features: 200,
            frequencies: Frequencies::MultivariateT,
            probe_distribution: ProbeDistribution::Normal,
            warm_start: false,
            extrapolate: false,
            second_solve: false,
            feature_step: 0,
        },
        solver: solver("cg"),
        budget: Budget::default(),
        train: None,
        repetitions: None,
        precision: Precision::F64,
        seed: 7,
        repeat: 0,
    }
}

/// A solver with its own defaults.
pub(crate) fn solver(id: &str) -> Solver {
    Solver {
        name: id.into(),
        plugin: id.into(),
        params: BTreeMap::new(),
        inducing: None,
        quadrature: None,
        prediction: BTreeMap::new(),
    }
}

/// Terms without bounds, on one thread.
pub(crate) fn terms() -> Terms {
    Terms { tolerance: None, max_epochs: None, seconds: None, threads: 1, seed: 1 }
}

/// Runs `S` with these parameters on a system, from zero.
pub(crate) fn run<S: sdk::Solver>(
    system: &System,
    params: &[(&str, Param)],
    terms: Terms,
    now: fn() -> Clock,
    observer: &mut dyn Observer,
) -> Result<(Ending, Array2<f64>), CallError> {
    let plugin = sdk::export::plugin("test", "1.0", vec![sdk::export::solver::<S>()]);
    // SAFETY: a description made by the SDK.
    let library =
        unsafe { Library::from_description(Path::new("test"), plugin, HostTable::new(None)) }.unwrap();
    let params: BTreeMap<String, Param> = params.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
    let mut solver = SolverObject::create(library.solver(S::ID).unwrap(), library.host(), &params)?;
    let mut x = Array2::zeros((system.m(), system.columns()).f());
    let session = Session::new(system, terms, now, observer);
    let ending = solver.run(&session, &mut x)?;
    Ok((ending, x))
}
