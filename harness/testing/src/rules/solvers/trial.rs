//! Shared by the rules: building a request, solving it with a new object, and testing the answer with the dense
//! matrix.

use gpbench_host::CallError;
use gpbench_terms::{ParamValue, Reason};
use ndarray::{Array2, Axis};

use super::request::{Ask, SolveRequest};
use super::solver_run::{Outcome, SolverRun};
use crate::rules::kernel_system::{KernelSystem, right_hand_sides};
use crate::rules::{Finding, Subject};

/// Tolerance of requests, unless a rule is about tolerances.
pub(super) const TOLERANCE: f64 = 1e-4;

/// Largest relative residual norm of a solution, unless a rule is about tolerances. A vector that does not solve the
/// system is far above.
pub(super) const ACCEPTED: f64 = 1e-2;

impl SolveRequest {
    /// A request for H X = B with `s` columns, a zero start, one thread, and a large budget.
    pub(in crate::rules) fn new(system: KernelSystem, s: usize) -> SolveRequest {
        let rhs = right_hand_sides(system.n(), s, 77);
        SolveRequest {
            start: Array2::zeros(rhs.dim()),
            system,
            rhs,
            tolerance: Some(TOLERANCE),
            max_epochs: 2000.0,
            threads: 1,
            seed: 1,
            margin: 0,
            stop_at: None,
            ask: Ask::Never,
        }
    }

    /// Relative residual norms of `x`, one a column.
    pub(super) fn residuals(&self, x: &Array2<f64>) -> Vec<f64> {
        self.system.residuals(&self.rhs, x)
    }

    /// The request with its columns in another order.
    pub(super) fn with_columns(&self, order: &[usize]) -> SolveRequest {
        let (rhs, start) = (self.rhs.select(Axis(1), order), self.start.select(Axis(1), order));
        SolveRequest { rhs, start, ..self.clone() }
    }
}

/// The number that is compared with the tolerance, where the first column is the target. NaN if a norm is NaN.
pub(super) fn worst(norms: &[f64]) -> f64 {
    worst_of(norms, 1)
}

/// The number that is compared with the tolerance: the larger of the largest norm of the first `n_targets` columns and
/// the mean norm of the others. NaN if a norm is NaN.
pub(super) fn worst_of(norms: &[f64], n_targets: usize) -> f64 {
    let (targets, probes) = norms.split_at(norms.len().min(n_targets));
    let mean = if probes.is_empty() { 0.0 } else { probes.iter().sum::<f64>() / probes.len() as f64 };
    targets.iter().fold(mean, |worst, &norm| if worst.is_nan() || worst >= norm { worst } else { norm })
}

/// The largest norm; NaN if one of them is NaN.
pub(super) fn largest(norms: &[f64]) -> f64 {
    norms
        .iter()
        .fold(0.0, |largest: f64, &norm| if largest.is_nan() || largest >= norm { largest } else { norm })
}

/// Solves with a new object, which has the parameters that its author states.
pub(super) fn solve(subject: &Subject<'_>, request: &SolveRequest) -> Result<Outcome, CallError> {
    solve_with(subject, request, &[])
}

/// Solves with a new object, which has these parameters.
pub(super) fn solve_with(
    subject: &Subject<'_>,
    request: &SolveRequest,
    settings: &[(&str, ParamValue)],
) -> Result<Outcome, CallError> {
    let mut object = SolverRun::create(subject, settings)?;
    let outcome = object.run(request, &mut || ());
    object.end()?;
    outcome
}

/// Solves. Fails if convergence is claimed without a solution, and skips if it is not claimed.
pub(super) fn converge(subject: &Subject<'_>, request: &SolveRequest) -> Result<Outcome, Finding> {
    let outcome = solve(subject, request)?;
    demand_solution(subject, request, &outcome)?;
    Ok(outcome)
}

/// Fails if convergence is claimed without a solution, and skips if it is not claimed.
pub(super) fn demand_solution(
    subject: &Subject<'_>,
    request: &SolveRequest,
    outcome: &Outcome,
) -> Result<(), Finding> {
    demand_claim(subject, outcome)?;
    let truths = request.residuals(&outcome.x);
    let residual = largest(&truths);
    if !(residual <= ACCEPTED) {
        let what = "claims convergence to 1e-4, with a relative residual norm of";
        return Err(Finding::Failed(format!("{what} {residual:.1e}")));
    }
    demand_true_claims(subject, outcome, &truths)
}

/// Fails if a reported norm is less accurate than the author states.
pub(super) fn demand_true_claims(
    subject: &Subject<'_>,
    outcome: &Outcome,
    truths: &[f64],
) -> Result<(), Finding> {
    let Some(claims) = subject.expect.claims else { return Ok(()) };
    for (&claimed, &truth) in outcome.claimed.iter().zip(truths) {
        if !claims.allow(claimed, truth) {
            let what = format!("claims a residual norm of {claimed:e}, where the true one is {truth:e}");
            return Err(Finding::Failed(what));
        }
    }
    Ok(())
}

/// Skips if convergence is not claimed. Fails instead if the author states that the solver converges.
pub(super) fn demand_claim(subject: &Subject<'_>, outcome: &Outcome) -> Result<(), Finding> {
    if outcome.reason == Reason::Converged {
        return Ok(());
    }
    let Outcome { reason, epochs, .. } = outcome;
    let what = format!("reports no convergence: {reason:?} after {epochs:.0} epochs");
    Err(subject.unexpected_end(Reason::Converged, what))
}

/// Skips if two equal solves give different bits, which is the subject of the rule `same-seed`.
pub(super) fn demand_repeatable(subject: &Subject<'_>, request: &SolveRequest) -> Result<Outcome, Finding> {
    let (first, second) = (solve(subject, request)?, solve(subject, request)?);
    if same_bits(&first.x, &second.x) {
        return Ok(first);
    }
    Err(Finding::Skipped("two equal solves differ, so solutions cannot be compared".into()))
}

/// Whether two solutions are the same to the last bit.
pub(super) fn same_bits(a: &Array2<f64>, b: &Array2<f64>) -> bool {
    a.dim() == b.dim() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Fails unless two solutions of one request agree within the accuracy of residuals of [`ACCEPTED`]. The difference is
/// multiplied by H for this.
pub(super) fn demand_agreement(
    request: &SolveRequest,
    a: &Array2<f64>,
    b: &Array2<f64>,
) -> Result<(), Finding> {
    let difference = request.system.matrix().dot(&(a - b));
    for (j, (difference, b)) in difference.columns().into_iter().zip(request.rhs.columns()).enumerate() {
        let distance = (difference.dot(&difference) / b.dot(&b)).sqrt();
        if !(distance <= 2.0 * ACCEPTED) {
            return Err(Finding::Failed(format!("solutions of column {j} are {distance:.1e} apart")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_norm_is_that_of_the_rule() {
        assert_eq!(worst(&[0.5, 0.25, 0.5]), 0.5);
        assert_eq!(worst(&[0.25, 1.0, 0.5]), 0.75);
        assert_eq!(worst_of(&[0.25, 1.0, 0.5], 2), 1.0);
        assert_eq!(worst(&[]), 0.0);
        assert!(worst(&[0.5, f64::NAN]).is_nan() && worst(&[f64::NAN, 0.5]).is_nan());
        assert!(largest(&[0.5, f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn agreement_is_relative_to_the_right_hand_side() {
        let mut request = SolveRequest::new(KernelSystem::new(30, 1), 2);
        request.rhs *= 1e-9;
        let exact = request.system.exact(&request.rhs);
        assert!(demand_agreement(&request, &exact, &exact).is_ok());
        assert!(demand_agreement(&request, &exact, &Array2::zeros(exact.dim())).is_err());
        let unknown = Array2::from_elem(exact.dim(), f64::NAN);
        assert!(demand_agreement(&request, &exact, &unknown).is_err());
    }
}
