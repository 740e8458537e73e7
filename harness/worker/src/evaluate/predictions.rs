//! Metrics of predictions: errors on the test rows, and distances to the exact predictions.
//!
//! With inducing points the predictions are `K(X*, Z) v`, and the exact ones are still those of the full process.

use gpbench_gp::metrics;
use gpbench_gp::pathwise::{self, Prediction};
use gpbench_record::{Metrics, names};
use ndarray::ArrayView2;

use crate::exact_file::Reference;
use crate::system::System;

/// Predicts from a solution on the test rows, at the cost of n_test m kernel entries.
pub fn predict(system: &System, solution: ArrayView2<f64>) -> Prediction {
    let (x_test, f_test) = (system.data.x_test.view(), system.targets.f_test.view());
    pathwise::predict(system.predictor(), x_test, solution, f_test)
}

/// Metrics of the predictions from a solution, at the same cost.
pub fn predictions(system: &System, exact: Option<&Reference>, solution: ArrayView2<f64>) -> Metrics {
    errors(system, exact, &predict(system, solution))
}

/// Metrics of predictions on the test rows.
pub fn errors(system: &System, exact: Option<&Reference>, prediction: &Prediction) -> Metrics {
    let System { data, operator, .. } = system;
    let Prediction { mean, sample_variance, .. } = prediction;
    let y = data.y_test.view();
    let mut found = Metrics::default();
    found.insert(names::TEST_RMSE, metrics::rmse(mean.view(), y));
    if let Some(variance) = sample_variance {
        let noisy = variance + operator.noise_scale().powi(2);
        let nll = metrics::mean_negative_log_likelihood(y, mean.view(), noisy.view());
        found.insert(names::TEST_NLL, nll);
    }
    let Some(exact) = exact else { return found };
    found.insert(names::RMSE_TO_EXACT, metrics::rmse(mean.view(), exact.mean.view()));
    if let Some(variance) = sample_variance {
        let (exact_mean, exact_variance) = (exact.mean.view(), exact.latent_variance.view());
        let distance = metrics::wasserstein2(mean.view(), variance.view(), exact_mean, exact_variance);
        found.insert(names::W2_TO_EXACT, distance);
    }
    found
}
