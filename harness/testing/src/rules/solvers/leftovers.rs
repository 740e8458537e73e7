//! Rules about changes that a solver makes to its process.

use super::request::SolveRequest;
use super::trial::solve;
use crate::rules::{Finding, KernelSystem, Subject, leftovers};

pub(super) fn leaks(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = SolveRequest { max_epochs: 20.0, ..SolveRequest::new(KernelSystem::new(100, 20), 64) };
    leftovers::leaks(subject, "solves", || Ok(solve(subject, &request).map(drop)?))
}

pub(super) fn left_threads(subject: &Subject<'_>) -> Result<(), Finding> {
    let request =
        SolveRequest { threads: 2, max_epochs: 20.0, ..SolveRequest::new(KernelSystem::new(60, 21), 3) };
    leftovers::left_threads(subject, "solves", request.threads, || Ok(solve(subject, &request).map(drop)?))
}

pub(super) fn float_mode(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = SolveRequest::new(KernelSystem::new(40, 22), 2);
    leftovers::float_mode(subject, "solve", || Ok(solve(subject, &request).map(drop)?))
}

pub(super) fn blas_threads(subject: &Subject<'_>) -> Result<(), Finding> {
    leftovers::blas_threads(subject, "solve", |threads| {
        let request = SolveRequest { threads, ..SolveRequest::new(KernelSystem::new(40, 23), 2) };
        Ok(solve(subject, &request).map(drop)?)
    })
}

pub(super) fn silence(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = SolveRequest::new(KernelSystem::new(40, 24), 2);
    leftovers::silence(subject, || Ok(solve(subject, &request).map(drop)?))
}
