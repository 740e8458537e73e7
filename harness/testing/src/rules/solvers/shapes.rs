//! Rules about unusual shapes: one row, one column, many columns, columns of zeros, columns that are not adjacent.

use gpbench_terms::Reason;

use super::request::SolveRequest;
use super::solver_run::Touched;
use super::trial::{converge, demand_solution, solve};
use crate::rules::{Finding, KernelSystem, Subject};

/// Largest entry of a solution that should be zero.
const ZERO: f64 = 1e-10;

pub(super) fn one_row(subject: &Subject<'_>) -> Result<(), Finding> {
    converge(subject, &SolveRequest::new(KernelSystem::new(1, 1), 3)).map(drop)
}

pub(super) fn one_column(subject: &Subject<'_>) -> Result<(), Finding> {
    converge(subject, &SolveRequest::new(KernelSystem::new(60, 2), 1)).map(drop)
}

pub(super) fn many_columns(subject: &Subject<'_>) -> Result<(), Finding> {
    converge(subject, &SolveRequest::new(KernelSystem::new(41, 3), 67)).map(drop)
}

pub(super) fn zero_column(subject: &Subject<'_>) -> Result<(), Finding> {
    let starts: &[f64] = if subject.is_stated() { &[0.0, 1.0] } else { &[0.0] };
    for &start in starts {
        let mut request = SolveRequest::new(KernelSystem::new(50, 4), 4);
        request.start.fill(start);
        let mut all_zero = request.clone();
        all_zero.rhs.fill(0.0);
        let outcome = solve(subject, &all_zero)?;
        let failed =
            |what: String| Err(Finding::Failed(format!("where all right-hand sides are zero, {what}")));
        let largest = outcome.x.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        if !outcome.x.iter().all(|x| x.abs() <= ZERO) {
            return failed(format!("the solution has entries up to {largest:.1e}"));
        }
        if outcome.reason == Reason::Diverged {
            return failed("it reports that it diverged".into());
        }
        if subject.is_stated_iterative() && (outcome.reason, outcome.iterations) != (Reason::Converged, 0) {
            return failed(format!("it ends {:?} after {} iterations", outcome.reason, outcome.iterations));
        }
        for zero in [0, 2] {
            one_zero(subject, &request, zero)?;
        }
    }
    Ok(())
}

/// Tests the solution of a column of zeros among others.
fn one_zero(subject: &Subject<'_>, request: &SolveRequest, zero: usize) -> Result<(), Finding> {
    let mut request = request.clone();
    request.rhs.column_mut(zero).fill(0.0);
    let outcome = solve(subject, &request)?;
    let reason = outcome.reason;
    match subject.expect.ends {
        Some(stated) if stated != reason => {
            return Err(Finding::Failed(format!(
                "with a column of zeros it ends {reason:?}, not {stated:?}"
            )));
        }
        Some(_) => {}
        None => demand_solution(subject, &request, &outcome)?,
    }
    if !outcome.x.column(zero).iter().all(|x| x.abs() <= ZERO) {
        return Err(Finding::Failed("the solution of a column of zeros among others is not zero".into()));
    }
    if outcome.x.column(1).iter().any(|x| *x == 0.0 || !x.is_finite()) {
        return Err(Finding::Failed(
            "beside a column of zeros, another solution is zero or not finite".into(),
        ));
    }
    match outcome.claimed.get(zero) {
        Some(&claimed) if !(claimed.abs() <= ZERO) => {
            Err(Finding::Failed(format!("it claims a residual norm of {claimed:.1e} for a column of zeros")))
        }
        _ => Ok(()),
    }
}

pub(super) fn margin(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = SolveRequest { margin: 3, ..SolveRequest::new(KernelSystem::new(45, 5), 4) };
    let outcome = solve(subject, &request)?;
    if outcome.touched.contains(&Touched::Margin) {
        return Err(Finding::Failed(
            "memory around or between the columns of the iterate was written to".into(),
        ));
    }
    demand_solution(subject, &request, &outcome)
}
