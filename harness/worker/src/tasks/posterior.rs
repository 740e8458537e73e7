//! Task `posterior`: solutions for y and for pathwise targets, and the predictions that follow from them.

use gpbench_record::{Message, Metrics, Posterior, Probes, Solved, Verified};
use ndarray::ArrayView2;

use crate::evaluate::calibration::Calibrations;
use crate::evaluate::predictions::{errors, predict, predictions};
use crate::evaluate::{bad_column, is_finite, weights};
use crate::exact_file::Reference;
use crate::failure::CaseError;
use crate::posterior_curve::posterior_curve;
use crate::setup::Setup;
use crate::system::System;

use super::problem::Problem;

/// Solves; the trace has predictions, and errors of the weights where the exact ones are known.
pub(super) fn run(
    setup: &Setup,
    task: &Posterior,
    send: &mut dyn FnMut(Message),
) -> Result<Solved, CaseError> {
    Problem::build(setup, Probes::Pathwise(task.targets), task.inducing)?.solve(Some(of_iterate), send)
}

fn of_iterate(system: &System, exact: Option<&Reference>, iterate: ArrayView2<f64>) -> Metrics {
    let mut found = predictions(system, exact, iterate);
    found.extend(&weights::errors(system, exact, iterate));
    found
}

/// Evaluates the predictions, their calibration and the weights, and predicts along the input where there is one only.
pub(super) fn verify(setup: &Setup, task: &Posterior) -> Result<Verified, CaseError> {
    let problem = Problem::build(setup, Probes::Pathwise(task.targets), task.inducing)?;
    let (solution, mut metrics) = problem.verify()?;
    let (system, exact, solution) = (&problem.system, problem.exact.as_ref(), solution.view());
    let prediction = is_finite(solution).then(|| predict(system, solution));
    if let Some(prediction) = &prediction {
        metrics.extend(&errors(system, exact, prediction));
    }
    let calibrations = Calibrations::of_system(system, exact, prediction.as_ref());
    metrics.extend(&calibrations.metrics());
    let exact = exact.and_then(|exact| exact.curve.as_ref());
    let curve = posterior_curve(system, exact, solution)?.map(Box::new);
    let calibration = calibrations.shares();
    Ok(Verified { metrics, curve, calibration, bad_column: bad_column(solution), ..Verified::default() })
}
