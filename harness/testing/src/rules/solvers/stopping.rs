//! Rules about warm starts, budgets and cancellation.

use gpbench_terms::{Capability, Reason};

use super::request::SolveRequest;
use super::solver_run::Outcome;
use super::trial::{converge, demand_true_claims, same_bits, solve, solve_with, worst};
use crate::rules::kernel_system::{KernelSystem, right_hand_sides};
use crate::rules::{Finding, Subject};

/// Tolerance in comparisons of epochs, which are quotients.
const ROUNDING: f64 = 1e-9;

/// Number of refused calls after which a solver counts as ignoring its budget.
const PATIENCE: u64 = 8;

pub(super) fn warm_start(subject: &Subject<'_>) -> Result<(), Finding> {
    if !subject.can(Capability::WarmStart) {
        return Err(Finding::Skipped("does not claim to make use of a warm start".into()));
    }
    let mut request = SolveRequest::new(KernelSystem::new(80, 11), 4);
    if subject.is_stated() {
        for (mut column, scale) in request.rhs.columns_mut().into_iter().zip([1.0, 1e-6, 1e6, 1e3]) {
            column *= scale;
        }
    }
    request.start = request.system.exact(&request.rhs);
    let outcome = converge(subject, &request)?;
    let epochs = outcome.epochs - outcome.setup;
    if epochs > 1.0 + ROUNDING {
        return Err(Finding::Failed(format!("from the solution, it took {epochs:.2} epochs to find it")));
    }
    let is_kept = outcome.iterations == 0 && same_bits(&outcome.x, &request.start);
    if subject.is_stated() && !is_kept {
        return Err(Finding::Failed("it changes a start that is the solution".into()));
    }
    Ok(())
}

pub(super) fn any_start(subject: &Subject<'_>) -> Result<(), Finding> {
    let mut request = SolveRequest::new(KernelSystem::new(80, 12), 4);
    request.start = right_hand_sides(80, 4, 13) * 3.0;
    converge(subject, &request).map(drop)
}

pub(super) fn budget(subject: &Subject<'_>) -> Result<(), Finding> {
    for (max_epochs, tolerance) in [(3.0, Some(1e-13)), (2.5, None), (0.3, Some(1e-13))] {
        let request =
            SolveRequest { max_epochs, tolerance, ..SolveRequest::new(KernelSystem::new(60, 14), 4) };
        let outcome = solve(subject, &request)?;
        let failed = |what: String| Err(Finding::Failed(format!("with {max_epochs} epochs, it {what}")));
        let Outcome { epochs, refusals, self_reported, .. } = outcome;
        // Entries that the plugin reports by itself are already used when the report is refused. Such a report is less
        // than one epoch.
        let allowed = max_epochs * (1.0 + ROUNDING) + if self_reported > 0.0 { 1.0 } else { 0.0 };
        if epochs > allowed {
            return failed(format!("used {epochs:.2}"));
        }
        if refusals > PATIENCE {
            return failed(format!("called the operator {refusals} times after the budget was spent"));
        }
        if is_false_claim(&request, &outcome) {
            return failed("claims a convergence that it has not reached".into());
        }
        if !outcome.x.iter().all(|x| x.is_finite()) && outcome.reason != Reason::Diverged {
            return failed("leaves numbers that are not finite".into());
        }
    }
    Ok(())
}

pub(super) fn no_budget(subject: &Subject<'_>) -> Result<(), Finding> {
    let starts: &[f64] = if subject.can(Capability::WarmStart) { &[0.0, 0.25] } else { &[0.0] };
    for &start in starts {
        let mut request =
            SolveRequest { max_epochs: 0.0, seed: 0, ..SolveRequest::new(KernelSystem::new(60, 28), 4) };
        request.start.fill(start);
        let outcome = solve(subject, &request)?;
        let failed = |what: String| Err(Finding::Failed(format!("without a budget, it {what}")));
        // The same bound as for `budget`.
        if outcome.epochs > if outcome.self_reported > 0.0 { 1.0 } else { 0.0 } {
            return failed(format!("used {:.2} epochs", outcome.epochs));
        }
        if is_false_claim(&request, &outcome) {
            return failed("claims a convergence that it has not reached".into());
        }
        // A solver that begins at zero may leave zeros.
        let may_be_zero = subject.expect.ends.is_none();
        if outcome.x.iter().any(|&x| x != start && !(may_be_zero && x == 0.0)) {
            return failed("leaves another iterate than it was given".into());
        }
    }
    Ok(())
}

pub(super) fn limit(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = SolveRequest {
        tolerance: Some(1e-13),
        max_epochs: 50.0,
        ..SolveRequest::new(KernelSystem::new(60, 29), 4)
    };
    for count in [3, 4] {
        let Some(settings) = subject.limit(count) else {
            return Err(Finding::Skipped("no parameter is known to limit its iterations".into()));
        };
        let limited = solve_with(subject, &request, &settings)?;
        let again = solve_with(subject, &request, &settings)?;
        if !same_bits(&limited.x, &again.x) {
            return Err(Finding::Skipped("two equal solves differ, so iterates cannot be compared".into()));
        }
        if limited.reason != Reason::Iterations {
            return Err(Finding::Skipped(format!("ends {:?} within {count} iterations", limited.reason)));
        }
        if limited.self_reported > 0.0 {
            return Err(Finding::Skipped("reports work by itself, which no budget refuses".into()));
        }
        let spent = solve(subject, &SolveRequest { max_epochs: limited.epochs, ..request.clone() })?;
        demand_true_claims(subject, &spent, &request.residuals(&spent.x))?;
        let same = spent.epochs == limited.epochs && same_bits(&spent.x, &limited.x);
        if spent.reason != Reason::Stopped || !same {
            return Err(Finding::Failed(format!(
                "with the budget of {count} iterations, it ends {:?} and does not leave what {count} iterations leave",
                spent.reason
            )));
        }
    }
    stop_like_a_limit(subject, &request)
}

/// A solver that an observation stops leaves what a limit of as many iterations leaves.
fn stop_like_a_limit(subject: &Subject<'_>, request: &SolveRequest) -> Result<(), Finding> {
    let stopped = solve(subject, &SolveRequest { stop_at: Some(2), ..request.clone() })?;
    let Some(settings) = subject.limit(stopped.iterations as i64) else { return Ok(()) };
    if stopped.reason != Reason::Stopped {
        return Ok(());
    }
    let limited = solve_with(subject, request, &settings)?;
    // Claims of which nothing is stated are the subject of the rule `claims`.
    let claims_alike = subject.expect.claims.is_none() || stopped.claimed == limited.claimed;
    if same_bits(&stopped.x, &limited.x) && claims_alike {
        return Ok(());
    }
    let what = format!("stopped after {} iterations, it does not leave what they leave", stopped.iterations);
    Err(Finding::Failed(what))
}

pub(super) fn cancel(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = SolveRequest {
        tolerance: Some(1e-13),
        max_epochs: 50.0,
        ..SolveRequest::new(KernelSystem::new(60, 15), 4)
    };
    let mut stopped = 0;
    for stop_at in [0, 1, 3] {
        let request = SolveRequest { stop_at: Some(stop_at), ..request.clone() };
        let outcome = solve(subject, &request)?;
        let Some(at) = outcome.observed.get(stop_at) else { continue };
        stopped += 1;
        let failed =
            |what: String| Err(Finding::Failed(format!("told to stop at observation {stop_at}, it {what}")));
        let (further, epochs) = (outcome.observed.len() - stop_at - 1, outcome.epochs - at.epochs);
        if further > 1 || epochs > 1.0 + ROUNDING {
            return failed(format!("made {further} more and used {epochs:.2} epochs"));
        }
        if is_false_claim(&request, &outcome) {
            return failed("claims a convergence that it has not reached".into());
        }
    }
    if stopped == 0 {
        return Err(Finding::Skipped("makes no observations".into()));
    }
    Ok(())
}

/// Whether convergence is claimed far from the solution.
fn is_false_claim(request: &SolveRequest, outcome: &Outcome) -> bool {
    outcome.reason == Reason::Converged && !(worst(&request.residuals(&outcome.x)) <= 1e-8)
}
