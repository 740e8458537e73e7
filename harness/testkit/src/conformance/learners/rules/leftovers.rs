//! What a learner leaves behind in its process.

use crate::conformance::Finding;
use crate::conformance::learners::trial::fit;
use crate::conformance::learners::{FitRequest, LearnerSubject};
use crate::conformance::rules::process;

fn request(subject: &dyn LearnerSubject) -> FitRequest {
    FitRequest { passes: 1.0, ..FitRequest::new(subject, 64, 61) }
}

/// Fits and predicts.
fn run(subject: &dyn LearnerSubject, request: &FitRequest) -> Result<(), Finding> {
    let mut fitted = fit(subject, request)?;
    fitted.object.predict(&request.x)?;
    fitted.end()
}

pub(super) fn leaks(subject: &dyn LearnerSubject) -> Result<(), Finding> {
    process::leaks("fits", || run(subject, &request(subject)))
}

pub(super) fn left_threads(subject: &dyn LearnerSubject) -> Result<(), Finding> {
    let request = FitRequest { threads: 2, ..request(subject) };
    process::left_threads("fits", request.threads, || run(subject, &request))
}

pub(super) fn float_mode(subject: &dyn LearnerSubject) -> Result<(), Finding> {
    process::float_mode("fit", || run(subject, &request(subject)))
}

pub(super) fn blas_threads(subject: &dyn LearnerSubject) -> Result<(), Finding> {
    process::blas_threads(subject, "fit", |threads| run(subject, &FitRequest { threads, ..request(subject) }))
}

pub(super) fn silence(subject: &dyn LearnerSubject) -> Result<(), Finding> {
    process::silence(subject, || run(subject, &request(subject)))
}
