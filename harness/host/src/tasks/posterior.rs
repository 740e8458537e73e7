//! Task `posterior`: solutions for y and for pathwise targets, and the predictions that they give.

use gpbench_record::{Failure, Message, Metrics, Posterior, Probes, Solved, Verified};
use ndarray::ArrayView2;

use crate::evaluate::predictions::predictions;
use crate::evaluate::{self, is_finite, weights};
use crate::exact_file::Reference;
use crate::failure::invalid;
use crate::posterior_curve::posterior_curve;
use crate::process;
use crate::setup::Setup;
use crate::system::System;

use super::observed;

fn build(setup: &Setup, task: &Posterior) -> Result<System, Failure> {
    setup.system(&setup.job.case.kernel, Probes::Pathwise(task.targets), None, task.inducing)
}

/// Solves; the trace has predictions, and errors of the weights where the exact ones are known.
pub(super) fn run(setup: &Setup, task: &Posterior, send: &mut dyn FnMut(Message)) -> Result<Solved, Failure> {
    let began = process::seconds_since_start();
    let system = build(setup, task)?;
    let exact = setup.exact()?;
    let build_seconds = process::seconds_since_start() - began;
    let evaluate = |system: &System, iterate: ArrayView2<f64>| of_iterate(system, exact.as_ref(), iterate);
    observed::run(setup, system, build_seconds, Some(&evaluate), send)
}

fn of_iterate(system: &System, exact: Option<&Reference>, iterate: ArrayView2<f64>) -> Metrics {
    let mut found = predictions(system, exact, iterate);
    if let Some(exact) = exact {
        found.extend(&weights::errors(system, exact, iterate));
    }
    found
}

/// Evaluates the predictions and the weights, and predicts along the input where there is one only.
pub(super) fn verify(setup: &Setup, task: &Posterior) -> Result<Verified, Failure> {
    let system = build(setup, task)?;
    let exact = setup.exact()?;
    let exact = exact.as_ref();
    let solution = setup.solution(&system)?;
    let solution = solution.view();
    let mut metrics = evaluate::of_system(&system, exact);
    if is_finite(solution) {
        metrics.extend(&predictions(&system, exact, solution));
        metrics.extend(&evaluate::of_weights(&system, exact, solution));
    }
    let on_grid = exact.and_then(|exact| exact.curve.as_ref());
    let curve = posterior_curve(&system, on_grid, solution).map_err(invalid)?;
    Ok(Verified { metrics, curve: curve.map(Box::new) })
}
