//! What a solver leaves behind in its process.

use super::process;
use crate::conformance::trial::solve;
use crate::conformance::{Finding, KernelSystem, Request, Subject};

pub(super) fn leaks(subject: &dyn Subject) -> Result<(), Finding> {
    let request = Request { max_epochs: 20.0, ..Request::new(KernelSystem::new(100, 20), 64) };
    process::leaks("solves", || Ok(solve(subject, &request).map(drop)?))
}

pub(super) fn left_threads(subject: &dyn Subject) -> Result<(), Finding> {
    let request = Request { threads: 2, max_epochs: 20.0, ..Request::new(KernelSystem::new(60, 21), 3) };
    process::left_threads("solves", request.threads, || Ok(solve(subject, &request).map(drop)?))
}

pub(super) fn float_mode(subject: &dyn Subject) -> Result<(), Finding> {
    let request = Request::new(KernelSystem::new(40, 22), 2);
    process::float_mode("solve", || Ok(solve(subject, &request).map(drop)?))
}

pub(super) fn blas_threads(subject: &dyn Subject) -> Result<(), Finding> {
    process::blas_threads(subject, "solve", |threads| {
        let request = Request { threads, ..Request::new(KernelSystem::new(40, 23), 2) };
        Ok(solve(subject, &request).map(drop)?)
    })
}

pub(super) fn silence(subject: &dyn Subject) -> Result<(), Finding> {
    let request = Request::new(KernelSystem::new(40, 24), 2);
    process::silence(subject, || Ok(solve(subject, &request).map(drop)?))
}
