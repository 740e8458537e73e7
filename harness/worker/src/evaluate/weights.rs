//! Metrics of weights: residuals, claimed or true, and distances to the exact weights.
//!
//! Weights of inducing points solve another problem: there is no residual in H, and there are no exact weights to
//! compare them with.

use gpbench_gp::metrics;
use gpbench_host::SolveOutcome;
use gpbench_record::{Metrics, names};
use ndarray::ArrayView2;

use crate::exact_file::Reference;
use crate::system::{Formulation, System};

/// Errors of the weights of y, at the cost of n^2 kernel entries; none without the exact weights, or with inducing
/// points.
pub fn errors(system: &System, exact: Option<&Reference>, solution: ArrayView2<f64>) -> Metrics {
    let mut found = Metrics::default();
    if let Some(exact) = exact.filter(|_| !matches!(system.formulation, Formulation::Inducing { .. })) {
        let error = &solution.column(0) - &exact.v;
        found.insert(names::WEIGHT_ERROR, metrics::norm(error.view()));
        found.insert(names::RKHS_ERROR, metrics::rkhs_norm(&*system.operator, error.view()));
    }
    found
}

/// True relative residual norms of all columns, by one product with H.
pub fn residuals(system: &System, solution: ArrayView2<f64>) -> Metrics {
    as_metrics(&metrics::relative_residuals(&*system.operator, solution, system.targets.rhs.view()))
}

/// The same after a solve: without a product, if the operator's last one for the solver was with this solution.
pub fn residuals_of_solve(system: &System, solution: ArrayView2<f64>, outcome: &SolveOutcome) -> Metrics {
    let known = outcome.product.as_ref().filter(|_| matches!(system.formulation, Formulation::Full));
    match known.and_then(|known| known.with(solution)) {
        Some(product) => as_metrics(&metrics::relative_differences(product, system.targets.rhs.view())),
        None => residuals(system, solution),
    }
}

/// Relative residual norms as metrics.
fn as_metrics(residuals: &[f64]) -> Metrics {
    let mut found = Metrics::default();
    if let Some((y, probes)) = residuals.split_first() {
        found.insert(names::RESIDUAL_Y, *y);
        // The mean over no probes is NaN, and is left out.
        found.insert(names::RESIDUAL_PROBES, probes.iter().sum::<f64>() / probes.len() as f64);
        // `max` ignores NaN, and the result would be too small.
        if residuals.iter().all(|residual| residual.is_finite()) {
            found.insert(names::RESIDUAL_MAX, residuals.iter().copied().fold(0.0, f64::max));
        }
    }
    found
}

/// Claimed relative residual norms as metrics: y, and the mean over the probes.
pub fn claims(claimed: &[f64]) -> Metrics {
    let mut found = Metrics::default();
    if let Some((y, probes)) = claimed.split_first() {
        found.insert(names::CLAIMED_Y, *y);
        found.insert(names::CLAIMED_PROBES, probes.iter().sum::<f64>() / probes.len() as f64);
    }
    found
}
