//! Rules about more than one target.

use ndarray::Axis;

use super::accuracy::slack;
use super::request::SolveRequest;
use super::solver_run::{Outcome, SolverRun};
use super::trial::{ACCEPTED, TOLERANCE, demand_claim, demand_solution, worst_of};
use crate::rules::dense_systems::dense_system;
use crate::rules::{Finding, KernelSystem, Subject};

/// The first target is zero, so that it is solved at once, and all right-hand sides are targets. In other systems a
/// target or a probe is solved sooner than the others.
pub(super) fn several(subject: &Subject<'_>) -> Result<(), Finding> {
    let mut request = SolveRequest::new(KernelSystem::new(60, 25), 3);
    request.rhs.index_axis_mut(Axis(1), 0).fill(0.0);
    demand_solution(subject, &request, &solve(subject, &request, 3)?)?;
    for (n_targets, quick) in [(1, 0), (4, 4)] {
        let mut request = SolveRequest::new(KernelSystem::new(60, 26), 5);
        request.rhs.column_mut(quick).assign(&request.system.matrix().column(0));
        let outcome = solve(subject, &request, n_targets)?;
        demand_claim(subject, &outcome)?;
        let truth = worst_of(&request.residuals(&outcome.x), n_targets);
        let stated = subject.expect.claims.is_some();
        if !(truth <= if stated { slack(subject) * TOLERANCE } else { ACCEPTED }) {
            let what =
                format!("claims convergence with {n_targets} targets, with a residual norm of {truth:.1e}");
            return Err(Finding::Failed(what));
        }
    }
    Ok(())
}

/// Solves a stored system whose first `n_targets` right-hand sides are targets.
fn solve(subject: &Subject<'_>, request: &SolveRequest, n_targets: usize) -> Result<Outcome, Finding> {
    let mut system = dense_system(request);
    system.n_targets = n_targets;
    let mut object = SolverRun::create(subject, &[])?;
    let outcome = object.run_on(&system, request, &mut || ());
    object.end()?;
    Ok(outcome?)
}
