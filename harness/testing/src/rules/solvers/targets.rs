//! Rules about more than one target.

use ndarray::Axis;

use super::request::SolveRequest;
use super::solver_run::SolverRun;
use super::trial::demand_solution;
use crate::rules::dense_systems::dense_system;
use crate::rules::{Finding, KernelSystem, Subject};

/// The first target is zero, so that it is solved at once, and all right-hand sides are targets.
pub(super) fn several(subject: &Subject<'_>) -> Result<(), Finding> {
    let mut request = SolveRequest::new(KernelSystem::new(60, 25), 3);
    request.rhs.index_axis_mut(Axis(1), 0).fill(0.0);
    let mut system = dense_system(&request);
    system.n_targets = 3;
    let mut object = SolverRun::create(subject, &[])?;
    let outcome = object.run_on(&system, &request, &mut || ());
    object.end()?;
    demand_solution(&request, &outcome?)
}
