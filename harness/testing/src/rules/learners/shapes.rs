//! Rules about few rows, few inputs, constant inputs, and batches of unusual size.

use gpbench_abi::Batches;
use gpbench_terms::{ParamValue, Reason};
use ndarray::{Array2, Axis};

use super::request::FitRequest;
use super::trial::{BATCH, batch, demand_finite, demand_sound, fit, fit_with, targets};
use crate::rules::{Finding, Subject};

pub(super) fn two_rows(subject: &Subject<'_>) -> Result<(), Finding> {
    sound(subject, &FitRequest::new(subject, 2, 31))
}

pub(super) fn one_input(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = FitRequest::new(subject, 48, 32);
    let first = |x: &Array2<f64>| x.select(Axis(1), &[0]);
    let (x, basis) = (first(&request.x), request.basis.as_ref().map(first));
    let request = FitRequest { y: targets(&x), x, basis, ..request };
    let mut fitted = fit(subject, &request)?;
    if fitted.reason != Reason::Diverged {
        demand_finite(&fitted.object.predict(&request.x)?)?;
    }
    fitted.end()
}

pub(super) fn constant_input(subject: &Subject<'_>) -> Result<(), Finding> {
    let mut request = FitRequest::new(subject, 48, 33);
    for points in [Some(&mut request.x), request.basis.as_mut()].into_iter().flatten() {
        points.column_mut(1).fill(0.0);
    }
    sound(subject, &request)
}

pub(super) fn repeated_rows(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = FitRequest::new(subject, 24, 34);
    let twice: Vec<usize> = (0..48).map(|row| row / 2).collect();
    let (x, y) = (request.x.select(Axis(0), &twice), request.y.select(Axis(0), &twice));
    sound(subject, &FitRequest { x, y, ..request })
}

/// Fails if a fit has unusable predictions, or diverges on regular data.
fn sound(subject: &Subject<'_>, request: &FitRequest) -> Result<(), Finding> {
    let mut fitted = fit(subject, request)?;
    if fitted.reason == Reason::Diverged {
        return Err(Finding::Failed("reports that it diverged".into()));
    }
    demand_sound(&mut fitted)?;
    fitted.end()
}

pub(super) fn large_batch(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = FitRequest::new(subject, 40, 35);
    let settings: Vec<(&str, ParamValue)> = batch(subject, 10 * request.x.nrows());
    if settings.is_empty() {
        return Err(Finding::Skipped("has no parameter `batch` that takes 400".into()));
    }
    let mut fitted = fit_with(subject, &request, &settings)?;
    demand_sound(&mut fitted)?;
    let used = fitted.object.used();
    if used.passes != used.batches as f64 {
        let what = format!("took {} batches for {} passes", used.batches, used.passes);
        return Err(Finding::Failed(what));
    }
    let n = request.x.nrows();
    for (stream, rows) in fitted.object.batches() {
        if Batches::counts_passes(stream) && rows.len() != n {
            return Err(Finding::Failed(format!("drew a batch of {} of {n} rows", rows.len())));
        }
    }
    fitted.end()
}

pub(super) fn short_batch(subject: &Subject<'_>) -> Result<(), Finding> {
    let settings = batch(subject, BATCH);
    if settings.is_empty() {
        return Err(Finding::Skipped(format!("has no parameter `batch` that takes {BATCH}")));
    }
    // Two batches of 16 and a short one in each pass.
    let request = FitRequest::new(subject, 42, 36);
    let mut fitted = fit_with(subject, &request, &settings)?;
    demand_sound(&mut fitted)?;
    let used = fitted.object.used();
    if fitted.reason == Reason::Stopped && (used.objectives.len() as u64) < used.batches {
        let what = format!("took {} steps from {} batches", used.objectives.len(), used.batches);
        return Err(Finding::Failed(what));
    }
    fitted.end()
}
