//! Calibration of Gaussian predictions.

use gpbench_statistics::calibration::{Calibration, calibration, sampled_coverage, sampled_nll_bias};
use gpbench_statistics::{normal_cdf, sample_variance};

use crate::support::{all_same, at, example, list, number, same};

fn of(name: &str) -> Vec<f64> {
    list(&format!("calibration/{name}"))
}

fn of_example() -> Calibration {
    calibration(&of("y"), &of("mean"), &of("variance"), &of("y_train")).unwrap()
}

#[test]
fn metrics() {
    let found = of_example();
    all_same(
        &found.coverage,
        &["coverage_50", "coverage_90", "coverage_95"].map(|of| at(&format!("calibration/{of}"))),
    );
    all_same(&found.width, &["width_50", "width_90", "width_95"].map(|of| at(&format!("calibration/{of}"))));
    same(found.crps, at("calibration/crps"));
    same(found.nll, at("calibration/nll"));
    same(found.msll.unwrap(), at("calibration/msll"));
    same(found.smse.unwrap(), at("calibration/smse"));
    same(found.z_squared, at("calibration/z_squared"));
    all_same(&found.curve, &of("curve"));
    same(found.error, at("calibration/calibration_error"));
    assert_eq!(serde_json::json!(found.pit), *example("calibration/pit_bins"));
}

#[test]
fn rows() {
    let (y, mean, variance) = (of("y"), of("mean"), of("variance"));
    for (i, crps) in of("crps_rows").into_iter().enumerate() {
        let one = calibration(&y[i..=i], &mean[i..=i], &variance[i..=i], &[]).unwrap();
        same(one.crps, crps);
        same((y[i] - mean[i]) / variance[i].sqrt(), of("z")[i]);
        same(normal_cdf(of("z")[i]), of("pit")[i]);
    }
}

/// The definitions of `gpytorch.metrics`, whose variances divide by n - 1.
#[test]
fn other_divisors() {
    let (found, y, y_train) = (of_example(), of("y"), of("y_train"));
    let n = y.len() as f64;
    same(found.smse.unwrap() * (n - 1.0) / n, at("calibration/gpytorch/smse_ddof1"));
    let mean = y_train.iter().sum::<f64>() / y_train.len() as f64;
    let variance = sample_variance(&y_train).unwrap();
    let nll = |y: &f64| 0.5 * ((y - mean).powi(2) / variance + (2.0 * std::f64::consts::PI * variance).ln());
    same(found.nll - y.iter().map(nll).sum::<f64>() / n, at("calibration/gpytorch/msll_ddof1"));
}

#[test]
fn variances_of_samples() {
    for (samples, expected) in example("calibration/sampled_variance").as_object().unwrap() {
        let samples: usize = samples.parse().unwrap();
        same(sampled_coverage(samples), number(&expected["coverage_95_at_worst"]));
        same(sampled_nll_bias(samples).unwrap(), number(&expected["nll_bias_at_most"]));
    }
    assert_eq!(sampled_nll_bias(2), None);
}
