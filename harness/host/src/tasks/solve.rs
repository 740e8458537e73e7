//! Task `solve`: solutions of H V = [y, z_1 .. z_s], and their residuals.

use gpbench_record::{Failure, Message, Solve, Solved, Verified};
use ndarray::ArrayView2;

use crate::evaluate::{self, is_finite, weights};
use crate::process;
use crate::setup::Setup;
use crate::system::System;

use super::observed;

/// Solves; the trace has errors of the weights where the exact ones are known.
pub(super) fn run(setup: &Setup, task: &Solve, send: &mut dyn FnMut(Message)) -> Result<Solved, Failure> {
    let began = process::seconds_since_start();
    let system = setup.system(&setup.job.case.kernel, task.probes, None, None)?;
    let exact = setup.exact()?;
    let build_seconds = process::seconds_since_start() - began;
    let errors = exact
        .as_ref()
        .map(|exact| |system: &System, iterate: ArrayView2<f64>| weights::errors(system, exact, iterate));
    observed::run(setup, system, build_seconds, errors.as_ref().map(|errors| errors as _), send)
}

/// Evaluates the weights.
pub(super) fn verify(setup: &Setup, task: &Solve) -> Result<Verified, Failure> {
    let system = setup.system(&setup.job.case.kernel, task.probes, None, None)?;
    let exact = setup.exact()?;
    let solution = setup.solution(&system)?;
    let mut metrics = evaluate::of_system(&system, exact.as_ref());
    if is_finite(solution.view()) {
        metrics.extend(&evaluate::of_weights(&system, exact.as_ref(), solution.view()));
    }
    Ok(Verified { metrics, curve: None })
}
