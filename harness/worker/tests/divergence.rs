//! Training whose kernel matrix becomes singular.

use gpbench_data::{Table, copy};
use gpbench_record::{Family, GradientEstimator, Job, Kernel, ReadOptions, Source, Start, StopReason, names};
use ndarray::Array2;
use tempfile::TempDir;

use crate::common;
use crate::common::training::{EXACT, solutions, trained, training, verified};
use crate::common::worker::{job, solve_in_steps as train};

/// Training on a sine without noise, whose likelihood grows until the kernel matrix is singular.
fn without_noise(gradient: GradientEstimator) -> (Job, TempDir) {
    let mut case = training("cholesky", gradient, 300);
    case.kernel.family = Family::Rbf.into();
    case.dataset.source = Source::File { path: "sine.csv".into(), options: ReadOptions::default() };
    let (mut job, folder) = job(case, 1);
    let x = Array2::from_shape_fn((200, 1), |(row, _)| row as f64 / 20.0);
    let y = x.column(0).mapv(f64::sin);
    let table = Table { name: "sine".into(), x, y, ..Table::default() };
    let file = folder.path().join("sine.gpb");
    copy::write(&table, &file).unwrap();
    job.dataset_file = Some(file);
    (job, folder)
}

#[test]
fn training_on_data_without_noise_ends_with_its_last_good_step() {
    for gradient in [EXACT, solutions(common::pathwise(4), Start::Cold)] {
        let (job, _folder) = without_noise(gradient);
        let (steps, solved) = train(&job);
        let output = trained(&solved);
        let why = output.divergence.as_ref().expect("the kernel matrix becomes singular");
        assert!((50..300).contains(&steps.len()) && why.contains("positive definite"), "{why}");
        assert!(why.ends_with(&format!("the result is that of step {}", steps.len() - 1)), "{why}");
        assert_eq!(solved.reason, StopReason::Diverged);
        assert_eq!(output.hyperparameters, steps.last().unwrap().hyperparameters);
        let metrics = verified(&job, &solved);
        assert!(metrics.get(names::TEST_RMSE).is_some_and(|rmse| rmse < 1e-3), "{metrics:?}");
        assert!(metrics.get(names::RESIDUAL_Y).is_some(), "{metrics:?}");
    }
}

#[test]
fn training_that_takes_no_step_has_the_prior_as_its_result() {
    let mut case = training("cholesky", EXACT, 5);
    case.kernel = Kernel { noise_scale: 1e-12, length_scale: vec![100.0], ..case.kernel };
    case.kernel.family = Family::Rbf.into();
    let (job, _folder) = job(case, 1);
    let (steps, solved) = train(&job);
    let why = trained(&solved).divergence.as_ref().unwrap();
    assert!(steps.is_empty() && why.starts_with("step 0: the kernel matrix with noise is singular"), "{why}");
    assert!(why.ends_with("the result is the prior, without a step"), "{why}");
    let metrics = verified(&job, &solved);
    assert_eq!(metrics.get(names::RESIDUAL_Y), Some(1.0));
    assert!(metrics.get(names::TEST_RMSE).is_some());
}
