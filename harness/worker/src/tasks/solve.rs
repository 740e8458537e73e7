//! Task `solve`: solutions of H V = [y, z_1 .. z_s], and their residuals.

use gpbench_record::{Message, Solve, Solved, Verified};

use crate::evaluate::{bad_column, weights};
use crate::failure::CaseError;
use crate::setup::Setup;
use crate::starts;

use super::problem::{Evaluate, Problem};

/// Solves; the trace has errors of the weights where the exact ones are known.
pub(super) fn run(setup: &Setup, task: &Solve, send: &mut dyn FnMut(Message)) -> Result<Solved, CaseError> {
    let problem = Problem::build(setup, task.probes, None)?;
    let errors = problem.exact.as_ref().map(|_| weights::errors as Evaluate);
    problem.solve(errors, send)
}

/// Evaluates the weights.
pub(super) fn verify(setup: &Setup, task: &Solve) -> Result<Verified, CaseError> {
    let (solution, mut metrics) = Problem::build(setup, task.probes, None)?.verify()?;
    metrics.extend(&starts::compared(&setup.kernel, &setup.rows, setup.job.threads)?);
    Ok(Verified { metrics, bad_column: bad_column(solution.view()), ..Verified::default() })
}
