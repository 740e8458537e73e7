//! Rules about claims of convergence and of residuals, which must be true on several systems.

use gpbench_host::CallError;
use gpbench_terms::{Capability, Reason};

use super::request::{Ask, SolveRequest};
use super::solver_run::{Outcome, SolverRun};
use super::trial::{demand_claim, demand_true_claims, largest, solve, worst};
use crate::rules::dense_systems::dense_system;
use crate::rules::{Claims, Finding, KernelSystem, Subject};

/// Largest relative residual norm of an exact solver on these systems, whose condition number is about 10.
const WORKING_PRECISION: f64 = 1e-10;

/// Several systems, each at several tolerances.
fn requests() -> impl Iterator<Item = SolveRequest> {
    let systems = [(61, 1), (90, 2), (120, 3)];
    systems.into_iter().flat_map(|(n, seed)| {
        [1e-1, 1e-2, 1e-4].map(|tolerance| {
            let request = SolveRequest::new(KernelSystem::new(n, seed), 5);
            SolveRequest { tolerance: Some(tolerance), seed, ..request }
        })
    })
}

/// Applies a test to all solves for which convergence is claimed; skips if there are none.
fn judge(
    subject: &Subject<'_>,
    test: impl Fn(&SolveRequest, &Outcome) -> Result<(), Finding>,
) -> Result<(), Finding> {
    let (mut judged, mut skipped) = (0, Ok(()));
    for request in requests() {
        let outcome = solve(subject, &request)?;
        match demand_claim(subject, &outcome).and_then(|()| test(&request, &outcome)) {
            Ok(()) => judged += 1,
            Err(Finding::Skipped(why)) => skipped = Err(Finding::Skipped(why)),
            Err(failed) => return Err(failed),
        }
    }
    if judged > 0 { Ok(()) } else { skipped }
}

/// The factor by which the true residual may exceed the tolerance.
pub(super) fn slack(subject: &Subject<'_>) -> f64 {
    subject.expect.claims.map_or(2.0, Claims::slack)
}

pub(super) fn tolerance(subject: &Subject<'_>) -> Result<(), Finding> {
    judge(subject, |request, outcome| {
        let (truth, asked) = (worst(&request.residuals(&outcome.x)), request.tolerance.unwrap_or(0.0));
        if truth <= slack(subject) * asked {
            return Ok(());
        }
        Err(Finding::Failed(format!(
            "claims convergence to {asked:e}, with a true residual norm of {truth:.1e}"
        )))
    })
}

/// Where the author states no accuracy, the residuals of a solver that draws random numbers may be estimates. For such
/// a solver, the rule only tests whether the norm that is compared with the tolerance is too small.
pub(super) fn claims(subject: &Subject<'_>) -> Result<(), Finding> {
    let randomized = subject.is_randomized();
    judge(subject, |request, outcome| {
        if outcome.claimed.is_empty() {
            return Err(Finding::Skipped("claims no residual norms".into()));
        }
        let truths = request.residuals(&outcome.x);
        if subject.expect.claims.is_some() {
            demand_true_claims(subject, outcome, &truths)?;
            return demand_true_observations(subject, request);
        }
        let least = request.tolerance.unwrap_or(0.0) * if randomized { 1.0 } else { 0.01 };
        let pairs: Vec<(f64, f64)> = if randomized {
            vec![(worst(&truths), worst(&outcome.claimed))]
        } else {
            truths.into_iter().zip(outcome.claimed.iter().copied()).collect()
        };
        for (truth, claimed) in pairs {
            let too_small = !(truth <= 2.0 * claimed.max(least));
            let too_large = !randomized && !(claimed <= 2.0 * truth.max(least));
            if too_small || too_large {
                let what =
                    format!("claims a residual norm of {claimed:.1e}, where the true one is {truth:.1e}");
                return Err(Finding::Failed(what));
            }
        }
        Ok(())
    })
}

/// Fails if an observed norm is less accurate than the author states, or if the last observation is not the report.
fn demand_true_observations(subject: &Subject<'_>, request: &SolveRequest) -> Result<(), Finding> {
    let Some(claims) = subject.expect.claims else { return Ok(()) };
    let outcome = solve(subject, &SolveRequest { ask: Ask::Always, ..request.clone() })?;
    for (observation, x) in outcome.observed.iter().zip(&outcome.handed) {
        for (&claimed, truth) in observation.claimed.iter().zip(request.residuals(x)) {
            if !claims.allow_observed(claimed, truth) {
                let at = observation.iteration;
                let what = format!("at iteration {at} it claims {claimed:e}, where {truth:e} is true");
                return Err(Finding::Failed(what));
            }
        }
    }
    let last = outcome.observed.last().map(|last| (last.iteration, &last.claimed));
    if last != Some((outcome.iterations, &outcome.claimed)) || outcome.handed.last() != Some(&outcome.x) {
        return Err(Finding::Failed("its last observation is not what it reports".into()));
    }
    Ok(())
}

pub(super) fn exact(subject: &Subject<'_>) -> Result<(), Finding> {
    if !subject.can(Capability::Exact) {
        return Err(Finding::Skipped("does not claim to be exact".into()));
    }
    for tolerance in [None, Some(0.5)] {
        let request = SolveRequest { tolerance, ..SolveRequest::new(KernelSystem::new(80, 1), 5) };
        let outcome = solve(subject, &request)?;
        let residual = largest(&request.residuals(&outcome.x));
        if outcome.reason != Reason::Converged || !(residual <= WORKING_PRECISION) {
            let what = format!("ended {:?} with a relative residual norm of {residual:.1e}", outcome.reason);
            return Err(Finding::Failed(what));
        }
    }
    Ok(())
}

/// Whether convergence is claimed, with finite numbers, for a column that has no solution.
fn is_false_claim(request: &SolveRequest, outcome: &Outcome, column: usize) -> bool {
    let finite = outcome.x.column(column).iter().all(|x| x.is_finite());
    let residual = request.residuals(&outcome.x)[column];
    outcome.reason == Reason::Converged && finite && !(residual <= 2.0 * request.tolerance.unwrap_or(0.0))
}

pub(super) fn not_a_number(subject: &Subject<'_>) -> Result<(), Finding> {
    let mut request = SolveRequest { max_epochs: 2000.0, ..SolveRequest::new(KernelSystem::new(40, 6), 3) };
    request.rhs[[3, 1]] = f64::NAN;
    subject.demand_no_result(unsolvable(subject, &request, 1)?.unwrap_or(Reason::Stagnated))
}

/// This rule always uses a stored matrix, since no kernel has such entries.
pub(super) fn matrix_not_a_number(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = SolveRequest { max_epochs: 2000.0, ..SolveRequest::new(KernelSystem::new(60, 27), 3) };
    for j in [4, 40] {
        let mut system = dense_system(&request);
        for at in [[3, j], [j, 3]] {
            system.a.0[at] = f64::NAN;
        }
        let mut object = SolverRun::create(subject, &[])?;
        let outcome = object.run_on(&system, &request, &mut || ());
        object.end()?;
        let outcome = match outcome {
            Err(error @ CallError::Panicked { .. }) => return Err(error.into()),
            // An error with a reason is accepted, like no convergence.
            Err(_) => continue,
            Ok(outcome) => outcome,
        };
        let finite = outcome.x.iter().all(|x| x.is_finite());
        subject.demand_no_result(outcome.reason)?;
        if subject.is_stated_iterative() && !finite {
            return Err(Finding::Failed("leaves numbers that are not finite".into()));
        }
        match outcome.reason {
            // A factorisation may not detect it, and its solution is visibly not finite.
            Reason::Converged if subject.can(Capability::Exact) && !finite => {}
            Reason::Converged => {
                return Err(Finding::Failed("claims convergence, where the matrix has NaN".into()));
            }
            Reason::Diverged => {}
            _ if finite => {}
            _ => {
                let what = "leaves numbers that are not finite, and does not report that it diverged";
                return Err(Finding::Failed(what.into()));
            }
        }
    }
    Ok(())
}

pub(super) fn singular(subject: &Subject<'_>) -> Result<(), Finding> {
    let system = KernelSystem::singular(20, 7);
    unsolvable(subject, &SolveRequest { max_epochs: 200.0, ..SolveRequest::new(system, 2) }, 0).map(drop)
}

/// Fails if a finite solution is claimed for a column that has none. Returns the reason with which the solve ended;
/// `None` if it ended with an error.
fn unsolvable(
    subject: &Subject<'_>,
    request: &SolveRequest,
    column: usize,
) -> Result<Option<Reason>, Finding> {
    match solve(subject, request) {
        Ok(outcome) if is_false_claim(request, &outcome, column) => {
            Err(Finding::Failed("claims convergence with a finite solution, where there is none".into()))
        }
        Ok(outcome) => Ok(Some(outcome.reason)),
        Err(error @ CallError::Panicked { .. }) => Err(error.into()),
        // An error with a reason is accepted, like no convergence.
        Err(_) => Ok(None),
    }
}
