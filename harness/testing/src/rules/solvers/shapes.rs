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
    let mut all_zero = SolveRequest::new(KernelSystem::new(50, 4), 4);
    all_zero.rhs.fill(0.0);
    let outcome = solve(subject, &all_zero)?;
    let largest = outcome.x.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if !(outcome.x.iter().all(|x| x.abs() <= ZERO)) {
        return Err(Finding::Failed(format!(
            "where all right-hand sides are zero, the solution has entries up to {largest:.1e}"
        )));
    }
    if outcome.reason == Reason::Diverged {
        return Err(Finding::Failed(
            "where all right-hand sides are zero, it reports that it diverged".into(),
        ));
    }

    let mut request = SolveRequest::new(KernelSystem::new(50, 4), 4);
    request.rhs.column_mut(2).fill(0.0);
    let outcome = converge(subject, &request)?;
    if !outcome.x.column(2).iter().all(|x| x.abs() <= ZERO) {
        return Err(Finding::Failed("the solution of a column of zeros among others is not zero".into()));
    }
    match outcome.claimed.get(2) {
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
    demand_solution(&request, &outcome)
}
