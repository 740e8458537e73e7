//! The search for the optimum of the likelihood, by the program itself.

use std::fs;

use gpbench_files::unseal;
use gpbench_record::{
    Case, CaseStatus, FaultCause, GradientEstimator, Hyperparameters, Message, Optimum, OptimumRequest,
    Scale, names,
};
use gpbench_sdk::Workers;
use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::likelihood::nlml;
use gpbench_worker::rows::Rows;

use crate::common::training::{task, training};
use crate::common::worker::{exact, fault, job, messages, solve_in_steps, worker};

/// A case of exact training on a draw of 200 rows, which is compared with the optimum.
fn case(change: impl FnOnce(&mut Case)) -> Case {
    let mut case = training("cholesky", GradientEstimator::Exact, 60);
    task(&mut case).optimum = true;
    change(&mut case);
    case
}

/// The answer of the worker to the request of a case.
fn answer(case: &Case, threads: usize) -> Message {
    let folder = tempfile::tempdir().unwrap();
    let mut request = OptimumRequest::of(case, threads).unwrap();
    request.system.output = folder.path().join("optimum.json");
    let answer = messages(&worker("optimum", &request)).pop().unwrap();
    if let Message::Optimum(optimum) = &answer {
        let file = fs::read(&request.system.output).unwrap();
        assert_eq!(serde_json::from_slice::<Optimum>(unseal(&file).unwrap()).unwrap(), *optimum);
    }
    answer
}

/// The optimum of a case.
fn optimum(case: &Case) -> Optimum {
    match answer(case, 2) {
        Message::Optimum(optimum) => optimum,
        other => panic!("{other:?}"),
    }
}

/// The log marginal likelihood by the SDK's own code.
fn likelihood_by_sdk(case: &Case, found: &Hyperparameters) -> f64 {
    let rows = Rows::load(&case.dataset, case.seed, None).unwrap();
    let kernel = case.kernel.with_hyperparameters(found).unwrap();
    let rows = rows.subtract_mean(&kernel);
    let of_sdk = Kernel {
        family: kernel.family,
        signal_scale: kernel.signal_scale,
        length_scale: kernel.length_scale.clone(),
    };
    let mut covariance = of_sdk.gram(&rows.x_train, &rows.x_train, Workers::new(1));
    covariance.diag_mut().iter_mut().for_each(|entry| *entry += kernel.noise_scale.powi(2));
    -nlml(covariance, &rows.y_train).unwrap() * rows.y_train.len() as f64
}

#[test]
fn the_optimum_has_the_likelihood_that_the_sdk_computes_and_no_training_exceeds_it() {
    let case = case(|_| {});
    let found = optimum(&case);
    assert_eq!((found.n, found.hyperparameters.len()), (200, 4), "{found:?}");
    let by_sdk = likelihood_by_sdk(&case, &found.hyperparameters);
    assert!((found.log_marginal_likelihood - by_sdk).abs() < 1e-8 * by_sdk.abs(), "{found:?} {by_sdk}");

    // The exact process at these hyperparameters.
    let (mut job, folder) = job(case.clone(), 2);
    job.case = case.prediction(&found.hyperparameters).unwrap();
    let known = exact(&mut job, &folder).get(names::LOG_MARGINAL_LIKELIHOOD);
    assert_eq!(known, Some(found.log_marginal_likelihood));

    // Adam climbs from below and comes near.
    job.case = case;
    let (steps, _) = solve_in_steps(&job);
    let reached = steps.iter().filter_map(|step| step.metrics.get(names::LOG_MARGINAL_LIKELIHOOD));
    let distances: Vec<f64> = reached.map(|value| found.distance(value)).collect();
    assert!(distances.iter().all(|distance| *distance >= -1e-9), "{distances:?}");
    assert!(distances[0] > 0.02 && distances[59] < 0.5 * distances[0], "{distances:?}");
}

#[test]
fn neither_the_start_nor_threads_change_it() {
    let elsewhere = case(|case| {
        case.kernel.noise_scale = 0.01;
        case.kernel.length_scale = vec![9.0, 0.2];
    });
    let one = answer(&case(|_| {}), 1);
    assert_eq!(answer(&elsewhere, 3), one);
}

#[test]
fn forms_of_the_kernel_have_optima_of_their_own() {
    let free = optimum(&case(|_| {}));
    let shared = optimum(&case(|case| task(case).shared_length_scale = true));
    assert!(shared.hyperparameters.contains_key("length_scale"), "{shared:?}");
    assert!(shared.log_marginal_likelihood <= free.log_marginal_likelihood + 1e-6);
    let fixed = optimum(&case(|case| {
        task(case).fixed = vec![Scale::NoiseScale];
        case.kernel.noise_scale = 0.6;
    }));
    assert_eq!(fixed.hyperparameters["noise_scale"], 0.6);
    assert!(fixed.log_marginal_likelihood < free.log_marginal_likelihood);
    let with_mean = case(|case| case.kernel.mean = Some(0.0));
    let found = optimum(&with_mean);
    assert!(
        found.log_marginal_likelihood >= free.log_marginal_likelihood - 1e-6
            && found.hyperparameters.contains_key("mean")
    );
    let by_sdk = likelihood_by_sdk(&with_mean, &found.hyperparameters);
    assert!((found.log_marginal_likelihood - by_sdk).abs() < 1e-8 * by_sdk.abs(), "{found:?} {by_sdk}");
}

#[test]
fn a_matrix_that_is_always_singular_and_a_file_that_cannot_be_written_are_told() {
    let singular = case(|case| {
        task(case).fixed = vec![Scale::NoiseScale, Scale::LengthScale];
        case.kernel.noise_scale = 1e-30;
        case.kernel.length_scale = vec![1e9];
    });
    let Message::Failed(failure) = answer(&singular, 1) else { panic!("it has an optimum") };
    assert_eq!(failure.status, CaseStatus::Diverged);
    assert!(failure.reason.starts_with("from every start, the kernel matrix"), "{}", failure.reason);

    let mut request = OptimumRequest::of(&case(|_| {}), 1).unwrap();
    request.system.output = "/nowhere/optimum.json".into();
    assert_eq!(fault("optimum", &request).cause, FaultCause::Storage);
}
