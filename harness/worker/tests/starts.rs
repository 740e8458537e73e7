//! Hyperparameters from the data, by the program itself.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use gpbench_data::{Table, copy};
use gpbench_gp::seed::Streams;
use gpbench_record::{
    Case, DataStart, FinalPrediction, GradientEstimator, Job, Kernel, Metrics, PathwiseTargets, RateSchedule,
    ReadOptions, Scale, Source, Step, Task, Training, names,
};
use ndarray::{Array1, Array2};
use tempfile::TempDir;

use crate::common::worker::{exact, job, solve, solve_in_steps, verify};
use crate::common::{self, FEATURES};

const STEPS: u64 = 25;

/// A start from the data that keeps these scales.
fn from_data(keep: Vec<Scale>) -> Option<DataStart> {
    Some(DataStart { restarts: DataStart::RESTARTS, keep })
}

/// Exact training by so many steps that begins with all scales 1.
fn training() -> Case {
    let mut case = common::by("cholesky", common::case(30));
    case.kernel = Kernel { signal_scale: 1.0, noise_scale: 1.0, length_scale: vec![1.0], ..case.kernel };
    case.budget.tolerance = Some(1e-3);
    let targets = PathwiseTargets { probes: 4, prior: FEATURES };
    case.task = Task::Train(Box::new(Training {
        estimator: "exact".into(),
        gradient: GradientEstimator::Exact,
        steps: STEPS,
        learning_rate: 0.1,
        schedule: RateSchedule::Constant,
        shared_length_scale: false,
        replay: vec![],
        fixed: vec![],
        subset: None,
        landscape: None,
        optimum: false,
        prediction: FinalPrediction { targets, params: BTreeMap::new() },
    }));
    case
}

/// A job on hours of six weeks, some of them missing, with a daily period, a slow trend and noise.
fn hourly(mut case: Case) -> (Job, TempDir) {
    case.dataset.source = Source::File { path: "hourly.csv".into(), options: ReadOptions::default() };
    let (mut job, folder) = job(case, 2);
    let hours: Vec<f64> = (0..1008).filter(|hour| hour % 97 > 7).map(f64::from).collect();
    let noise = Streams::new(5, &["hourly"]).normals("noise", hours.len(), 1);
    let x = Array2::from_shape_fn((hours.len(), 1), |(row, _)| hours[row]);
    let y = Array1::from_shape_fn(hours.len(), |row| {
        3.0 * (TAU * hours[row] / 24.0).sin() + 0.002 * hours[row] + 0.3 * noise[(row, 0)]
    });
    let table = Table { name: "hourly".into(), x, y, ..Table::default() };
    let file = folder.path().join("hourly.gpb");
    copy::write(&table, &file).unwrap();
    job.dataset_file = Some(file);
    (job, folder)
}

/// The log likelihood per row of the last step, and the metrics of the verification.
fn trained(case: Case) -> (f64, Metrics) {
    let (job, _folder) = hourly(case);
    let (steps, solved) = solve_in_steps(&job);
    let last: &Step = steps.last().unwrap();
    let hyperparameters = &solved.output.training().unwrap().hyperparameters;
    let metrics = verify(&Job { case: job.case.prediction(hyperparameters).unwrap(), ..job });
    (last.metrics.get(names::LOG_MARGINAL_LIKELIHOOD).unwrap() / solved.n as f64, metrics)
}

#[test]
fn an_hourly_series_is_trained_from_its_data_and_not_from_ones() {
    let mut from = training();
    from.kernel.start = from_data(vec![]);
    let (ones, of_ones) = trained(training());
    let (data, of_data) = trained(from);
    assert!(data > ones + 0.3, "{data} {ones}");
    let rmse = |metrics: &Metrics| metrics.get(names::TEST_RMSE).unwrap();
    assert!(rmse(&of_data) < 0.25 && rmse(&of_ones) > 2.0 * rmse(&of_data), "{of_data:?} {of_ones:?}");
    // What training from ones ended with is below a start from the data, and the other is not.
    let below = |metrics: &Metrics| metrics.get(names::BELOW_START).unwrap();
    assert!(below(&of_ones) > 0.2 && below(&of_data) < 0.0, "{} {}", below(&of_ones), below(&of_data));
}

#[test]
fn the_gain_by_gradients_is_that_of_the_likelihood() {
    let mut case = training();
    case.kernel.start = from_data(vec![]);
    let (job, _folder) = hourly(case);
    let (steps, _) = solve_in_steps(&job);
    let of = |step: &Step, name: &str| step.metrics.get(name);
    let rise = of(&steps[20], names::LOG_MARGINAL_LIKELIHOOD).unwrap()
        - of(&steps[0], names::LOG_MARGINAL_LIKELIHOOD).unwrap();
    let gain: f64 = steps[..=20].iter().map(|step| of(step, names::LIKELIHOOD_GAIN).unwrap()).sum();
    assert!(rise > 0.0 && (0.7..1.4).contains(&(gain / rise)), "{gain} {rise}");
}

#[test]
fn all_processes_of_a_case_find_the_same_hyperparameters() {
    let mut case = common::by("cholesky", common::case(100));
    case.kernel.start = from_data(vec![Scale::NoiseScale]);
    let (mut job, folder) = job(case, 1);
    exact(&mut job, &folder);
    let (_, solved) = solve(&job);
    let start = solved.start.clone().expect("hyperparameters from the data");
    assert_eq!(start["noise_scale"], 0.3);
    assert!(start["length_scale_0"] != 1.2 && start["length_scale_1"] != 1.5, "{start:?}");
    let metrics = verify(&job);
    assert!(metrics.get(names::RESIDUAL_MAX).unwrap() < 1e-10);
    assert!(metrics.get(names::RMSE_TO_EXACT).unwrap() < 1e-10);
    // The same on any number of threads.
    job.threads = 2;
    assert_eq!(solve(&job).1.start, Some(start));
}
