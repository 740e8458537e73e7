//! Rules about changes that a learner makes to its process.

use super::request::FitRequest;
use super::trial::fit;
use crate::rules::{Finding, Subject, leftovers};

fn request(subject: &Subject<'_>) -> FitRequest {
    FitRequest { passes: 1.0, ..FitRequest::new(subject, 64, 61) }
}

/// Fits and predicts.
fn run(subject: &Subject<'_>, request: &FitRequest) -> Result<(), Finding> {
    let mut fitted = fit(subject, request)?;
    fitted.object.predict(&request.x)?;
    fitted.end()
}

pub(super) fn leaks(subject: &Subject<'_>) -> Result<(), Finding> {
    leftovers::leaks(subject, "fits", || run(subject, &request(subject)))
}

pub(super) fn left_threads(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = FitRequest { threads: 2, ..request(subject) };
    leftovers::left_threads(subject, "fits", request.threads, || run(subject, &request))
}

pub(super) fn float_mode(subject: &Subject<'_>) -> Result<(), Finding> {
    leftovers::float_mode(subject, "fit", || run(subject, &request(subject)))
}

pub(super) fn blas_threads(subject: &Subject<'_>) -> Result<(), Finding> {
    leftovers::blas_threads(subject, "fit", |threads| {
        run(subject, &FitRequest { threads, ..request(subject) })
    })
}

pub(super) fn silence(subject: &Subject<'_>) -> Result<(), Finding> {
    leftovers::silence(subject, || run(subject, &request(subject)))
}
