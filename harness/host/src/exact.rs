//! `gpbench-worker exact`: the exact Gaussian process, as a reference for every
//! case on the same rows with the same kernel.

use std::sync::Arc;

use gpbench_gp::exact::ExactGp;
use gpbench_gp::metrics;
use gpbench_record::{ExactRequest, ExactSummary, Failure, Message, Metrics, names};

use crate::case::invalid;
use crate::exact_file::{self, Reference};
use crate::line::ExactLine;
use crate::system;

/// Name of log |H| in [`ExactSummary`].
pub const LOG_DET: &str = "log_det";

/// Factorises, predicts, and writes the reference down.
pub fn run(request: &ExactRequest) -> Message {
    match exact(request) {
        Ok(summary) => Message::Exact(summary),
        Err(failure) => Message::Failed(failure),
    }
}

fn exact(request: &ExactRequest) -> Result<ExactSummary, Failure> {
    let rows =
        system::rows(&request.dataset, request.seed, request.dataset_file.as_deref()).map_err(invalid)?;
    let rows = system::about(Arc::new(rows), &request.kernel);
    let kernel = system::kernel(&request.kernel, rows.x_train.ncols()).map_err(invalid)?;
    let noise_scale = request.kernel.noise_scale;
    let (x, y) = (rows.x_train.view(), rows.y_train.view());
    let gp = ExactGp::fit(&kernel, noise_scale, x, y, request.threads).map_err(invalid)?;
    let (mean, latent_variance) = gp.predict(rows.x_test.view());
    let noisy = &latent_variance + noise_scale.powi(2);
    let y_test = rows.y_test.view();
    let reference = Reference {
        v: gp.v.clone(),
        log_marginal_likelihood: gp.log_marginal_likelihood,
        log_det: gp.log_det,
        y_hinv_y: gp.y_hinv_y,
        test_rmse: metrics::rmse(mean.view(), y_test),
        test_nll: metrics::mean_negative_log_likelihood(y_test, mean.view(), noisy.view()),
        mean,
        latent_variance,
        line: ExactLine::of(&gp, x),
    };
    exact_file::write(&request.output, &reference).map_err(invalid)?;
    let mut found = Metrics::default();
    found.insert(names::LOG_MARGINAL_LIKELIHOOD, reference.log_marginal_likelihood);
    found.insert(LOG_DET, reference.log_det);
    found.insert(names::TEST_RMSE_EXACT, reference.test_rmse);
    found.insert(names::TEST_NLL_EXACT, reference.test_nll);
    Ok(ExactSummary { metrics: found })
}
