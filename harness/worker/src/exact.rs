//! `gpbench-worker exact`: the exact Gaussian process, as a reference for every
//! case on the same rows with the same kernel.

use gpbench_gp::exact::ExactGp;
use gpbench_gp::metrics;
use gpbench_record::{ExactRequest, ExactSummary, FaultCause, Message, Metrics, names};

use crate::blas_memory;
use crate::exact_curve::ExactCurve;
use crate::exact_file::{self, Reference};
use crate::failure::{CaseError, file_fault};
use crate::kernel::{in_units_of_rows, kernel};
use crate::rows::Rows;
use crate::starts;

/// Factorises, predicts, and writes the reference to its file.
pub fn run(request: &ExactRequest) -> Message {
    exact(request).map_or_else(|error| error.message(false), Message::Exact)
}

fn exact(request: &ExactRequest) -> Result<ExactSummary, CaseError> {
    blas_memory::reserve(request.threads)?;
    let (file, sha256) = (request.dataset_file.as_deref(), request.dataset_sha256.as_deref());
    let rows = Rows::load_planned(&request.dataset, request.seed, file, sha256)?;
    let scaled = in_units_of_rows(&request.kernel, &rows.split, false);
    let scaled = starts::resolved(&scaled, false, &rows, request.threads)?;
    let kernel = kernel(&scaled, rows.d())?;
    let rows = rows.subtract_mean(&scaled);
    let noise_scale = scaled.noise_scale;
    let (x, y) = (rows.x_train.view(), rows.y_train.view());
    let gp = ExactGp::fit(&kernel, noise_scale, x, y, request.threads)?;
    let (mean, latent_variance) = gp.predict(rows.x_test.view());
    let noisy = &latent_variance + noise_scale.powi(2);
    let y_test = rows.y_test.view();
    let reference = Reference {
        v: gp.v.clone(),
        log_marginal_likelihood: gp.log_marginal_likelihood,
        likelihood_error: gp.likelihood_error(),
        log_det: gp.log_det,
        y_hinv_y: gp.y_hinv_y,
        test_rmse: metrics::rmse(mean.view(), y_test),
        test_nll: metrics::mean_negative_log_likelihood(y_test, mean.view(), noisy.view()),
        mean,
        latent_variance,
        curve: ExactCurve::of(&gp, x),
    };
    exact_file::write(&request.output, &reference).map_err(file_fault(FaultCause::Storage))?;
    let mut found = Metrics::default();
    found.insert(names::LOG_MARGINAL_LIKELIHOOD, reference.log_marginal_likelihood);
    if let Some(error) = reference.relative_error() {
        found.insert(names::EXACT_ERROR, error);
    }
    found.insert(names::LOG_DET_EXACT, reference.log_det);
    found.insert(names::TEST_RMSE_EXACT, reference.test_rmse);
    found.insert(names::TEST_NLL_EXACT, reference.test_nll);
    Ok(ExactSummary { metrics: found })
}
