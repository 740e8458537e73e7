//! Task `posterior`: solutions for y and for pathwise targets, and the predictions that follow from them.

use gpbench_gp::pathwise::Prediction;
use gpbench_record::{Message, Metrics, Posterior, Predictions, Probes, Solved, Verified};
use ndarray::ArrayView2;

use crate::evaluate::calibration::Calibrations;
use crate::evaluate::predictions::{errors, predict, predictions};
use crate::evaluate::test_rows::{Predicted, add_error_in_units};
use crate::evaluate::{bad_column, is_finite, weights};
use crate::exact_file::Reference;
use crate::failure::CaseError;
use crate::posterior_curve::posterior_curve;
use crate::setup::Setup;
use crate::starts;
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
        add_error_in_units(&mut metrics, &setup.rows);
    }
    let kept = prediction.as_ref().and_then(|prediction| in_units(setup, system, prediction));
    let calibrations = Calibrations::of_system(system, exact, prediction.as_ref());
    metrics.extend(&calibrations.metrics());
    metrics.extend(&starts::compared(&setup.kernel, &setup.rows, setup.job.threads)?);
    let exact = exact.and_then(|exact| exact.curve.as_ref());
    let curve = posterior_curve(system, exact, solution)?.map(Box::new);
    let calibration = calibrations.shares();
    Ok(Verified {
        metrics,
        curve,
        calibration,
        units: setup.rows.units.clone().map(Box::new),
        predictions: kept,
        bad_column: bad_column(solution),
        ..Verified::default()
    })
}

/// The predictions on the test rows in the units of the file, where they are kept.
fn in_units(setup: &Setup, system: &System, prediction: &Prediction) -> Option<Box<Predictions>> {
    let latent = prediction.sample_variance.as_ref();
    let noisy = latent.map(|latent| latent + system.operator.noise_scale().powi(2));
    let predicted = Predicted {
        mean: prediction.mean.view(),
        variance: noisy.as_ref().map(|variance| variance.view()),
        latent_variance: latent.map(|variance| variance.view()),
    };
    predicted.in_units(&setup.rows, &system.data)
}
