//! Rules about the results of a fit: predictions, their model, and the objective.

use gpbench_terms::{ModelKind, ParamSchema, ParamValue, Reason};
use ndarray::{Array1, Array2, ArrayView1, Axis, concatenate};

use super::fit_run::{End, FitRun};
use super::request::FitRequest;
use super::trial::{BATCH, batch, demand_finite, finish, fit, fit_with, test_rows};
use crate::rules::{Finding, Subject};

/// Largest difference of predictions that should be the same, relative to their size.
const SAME: f64 = 1e-9;

/// Largest distance of predictions to those of the model, as in verification.
const GAP: f64 = 1e-5;

/// Largest distance of the objective to that of the model, relative to its size.
const OBJECTIVE: f64 = 1e-6;

/// Number of rows on which an objective is compared, so few that neighbourhoods and subsets contain all of them.
const ROWS: usize = 12;

/// Number of passes after which predictions must have improved.
const PASSES: f64 = 60.0;

pub(super) fn not_a_number(subject: &Subject<'_>) -> Result<(), Finding> {
    // With a distance of 4, every batch has one; with 40, one of the batches of a pass.
    [4, 40].into_iter().try_for_each(|distance| no_fit(subject, distance))
}

/// Tests a fit to targets of which every `distance`-th is not a number.
fn no_fit(subject: &Subject<'_>, distance: usize) -> Result<(), Finding> {
    let mut request = FitRequest::new(subject, 40, 81);
    request.y.iter_mut().step_by(distance).for_each(|y| *y = f64::NAN);
    match fit(subject, &request) {
        Ok(fitted) => {
            let reason = fitted.reason;
            let finite = fitted.object.used().objectives.iter().all(|objective| objective.is_finite());
            fitted.end()?;
            if !finite {
                return Err(Finding::Failed("reports an objective that is not finite".into()));
            }
            match reason {
                Reason::Diverged => Ok(()),
                _ => Err(Finding::Failed(format!("fits targets with NaN, and ends {reason:?}"))),
            }
        }
        // An error with a reason is accepted, like divergence.
        Err(Finding::Failed(why)) if !why.contains("panicked") => Ok(()),
        Err(other) => Err(other),
    }
}

pub(super) fn pieces(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = FitRequest { pause: true, ..FitRequest::new(subject, 56, 82) };
    let mut fitted = fit(subject, &request)?;
    let (x, _) = test_rows(21, 83);
    let whole = fitted.object.predict(&x)?;
    demand_finite(&whole)?;
    let backwards: Vec<usize> = (0..21).rev().collect();
    for order in [backwards, vec![7], (0..21).step_by(4).collect()] {
        let part = fitted.object.predict(&x.select(Axis(0), &order))?;
        let expected = whole.select(Axis(0), &order);
        let scale = whole.iter().fold(f64::MIN_POSITIVE, |scale: f64, value| scale.max(value.abs()));
        if part.iter().zip(&expected).any(|(a, b)| !((a - b).abs() <= SAME * scale)) {
            let what = format!("predicts otherwise at {} of 21 rows than at all of them", order.len());
            return Err(Finding::Failed(what));
        }
    }
    let none = fitted.object.predict(&x.select(Axis(0), &[]))?;
    fitted.end()?;
    if !none.is_empty() {
        return Err(Finding::Failed(format!("predicts {} numbers at no rows", none.len())));
    }
    if subject.is_stated() { predicts_between_steps(subject, &request, &x, &whole) } else { Ok(()) }
}

/// Predictions between steps change nothing.
fn predicts_between_steps(
    subject: &Subject<'_>,
    request: &FitRequest,
    x: &Array2<f64>,
    expected: &Array2<f64>,
) -> Result<(), Finding> {
    let mut object = FitRun::begin(subject, request, &batch(subject, BATCH))?;
    while object.fit()? == End::Paused {
        object.predict(x)?;
    }
    let last = object.predict(x)?;
    object.end()?;
    if last == expected {
        return Ok(());
    }
    Err(Finding::Failed("predictions between steps change the fit".into()))
}

pub(super) fn positive(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = FitRequest::new(subject, 56, 84);
    let far = Array2::from_elem((1, request.x.ncols()), 60.0);
    let x = concatenate(Axis(0), &[request.x.view(), far.view()]).expect("as many columns");
    // Before the first step and after the last.
    let mut object = FitRun::begin(subject, &request, &batch(subject, BATCH))?;
    for _ in 0..2 {
        let predictions = object.predict(&x)?;
        demand_finite(&predictions)?;
        if let Some(variance) = predictions.column(1).iter().find(|variance| !(**variance > 0.0)) {
            return Err(Finding::Failed(format!("predicts a variance of {variance:e}")));
        }
        finish(&mut object)?;
    }
    Ok(object.end()?)
}

pub(super) fn model(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = FitRequest::new(subject, 56, 85);
    let mut fitted = fit(subject, &request)?;
    let (x, _) = test_rows(17, 86);
    let (own, expected) = (fitted.object.predict(&x)?, fitted.object.judge(&x)?.predictions);
    fitted.end()?;
    let deviation = deviation(request.y.view());
    let means = own.column(0).into_iter().zip(expected.column(0)).map(|(a, b)| (a - b).abs() / deviation);
    let variances = own.column(1).into_iter().zip(expected.column(1)).map(|(a, b)| (a - b).abs() / b);
    for (what, gaps) in [("means", means.collect::<Vec<_>>()), ("variances", variances.collect())] {
        if let Some(gap) = gaps.iter().find(|gap| !(**gap <= GAP)) {
            return Err(Finding::Failed(format!("predicts {what} that are {gap:.1e} from its model's")));
        }
    }
    Ok(())
}

/// A fit on all of a few rows that pauses after every step, with these parameters beside the batch.
fn on_all_rows(subject: &Subject<'_>) -> (FitRequest, Vec<(&'static str, ParamValue)>) {
    let request = FitRequest { passes: 40.0, pause: true, ..FitRequest::new(subject, ROWS, 87) };
    (request, batch(subject, ROWS))
}

/// Skips the rule for a model of features, since methods for them may minimise something else than the likelihood.
fn skip_features(kind: ModelKind) -> Result<(), Finding> {
    match kind {
        ModelKind::Features => {
            Err(Finding::Skipped("its objective is not the likelihood of its features".into()))
        }
        _ => Ok(()),
    }
}

pub(super) fn objective(subject: &Subject<'_>) -> Result<(), Finding> {
    let (request, settings) = on_all_rows(subject);
    let mut object = FitRun::begin(subject, &request, &settings)?;
    let ended = object.fit()?;
    let judged = object.judge(&request.x)?;
    if ended != End::Paused {
        return Err(Finding::Skipped("takes a single step".into()));
    }
    let Some(expected) = judged.objective else {
        return Err(Finding::Skipped("the model's likelihood is not known".into()));
    };
    // A step reports the objective of the model that it starts from.
    object.fit()?;
    let own = object.used().objectives.last().copied().unwrap_or(f64::NAN);
    object.end()?;
    let n = ROWS as f64;
    let constant = n * std::f64::consts::TAU.ln();
    // Per row or for all rows; minimised or maximised; complete, or without its constants and factors of one half.
    let forms = [expected, -expected, n * expected, -n * expected, 2.0 * n * expected - constant];
    if forms.iter().any(|form| (own - form).abs() <= OBJECTIVE * form.abs().max(1.0)) {
        return Ok(());
    }
    skip_features(judged.kind)?;
    let what = format!("reports {own:.9}, where the model's is {expected:.9} for each of {ROWS} rows");
    Err(Finding::Failed(what))
}

pub(super) fn descends(subject: &Subject<'_>) -> Result<(), Finding> {
    let (request, mut settings) = on_all_rows(subject);
    let small = ParamValue::Float(1e-4);
    let rate = subject.param("learning_rate");
    let takes = |param: &ParamSchema| {
        matches!(param.default, ParamValue::Float(_)) && param.min.is_none_or(|min| min <= 1e-4)
    };
    match rate {
        Some(rate) if takes(rate) => settings.push(("learning_rate", small)),
        _ => return Err(Finding::Skipped("has no parameter `learning_rate` that takes 1e-4".into())),
    }
    let mut object = FitRun::begin(subject, &request, &settings)?;
    let (mut values, mut kind) = (Vec::new(), ModelKind::Gp);
    for _ in 0..20 {
        let ended = object.fit()?;
        let judged = object.judge(&request.x)?;
        kind = judged.kind;
        values.extend(judged.objective);
        if ended != End::Paused {
            break;
        }
    }
    object.end()?;
    let [first, .., last] = values.as_slice() else {
        return Err(Finding::Skipped("takes fewer than two steps".into()));
    };
    if last < first {
        return Ok(());
    }
    skip_features(kind)?;
    Err(Finding::Failed(format!(
        "after {} small steps the objective is {last:.9}, not below {first:.9}",
        values.len()
    )))
}

pub(super) fn learns(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = FitRequest { passes: PASSES, ..FitRequest::new(subject, 160, 88) };
    let mut fitted = fit_with(subject, &request, &batch(subject, 40))?;
    if fitted.reason == Reason::Diverged {
        fitted.end()?;
        return Err(Finding::Skipped("reports that it diverged".into()));
    }
    let (x, y) = test_rows(60, 89);
    let own = fitted.object.predict(&x)?;
    fitted.end()?;
    demand_finite(&own)?;
    let mean = request.y.mean().unwrap_or_default();
    let trivial = root_mean_square(&(&y - mean));
    let error = root_mean_square(&(&own.column(0) - &y));
    if !(error < 0.8 * trivial) {
        let what =
            format!("an error of {error:.3} on other rows, where the mean of the targets has {trivial:.3}");
        return Err(Finding::Failed(what));
    }
    let variance = request.y.mapv(|y| (y - mean).powi(2)).mean().unwrap_or_default();
    let trivial = likelihood(&y, &Array1::from_elem(y.len(), mean), &Array1::from_elem(y.len(), variance));
    let found = likelihood(&y, &own.column(0).to_owned(), &own.column(1).to_owned());
    if found < trivial {
        return Ok(());
    }
    let what = "negative log-likelihood on other rows";
    Err(Finding::Failed(format!("{what} {found:.3}, where a normal law of the targets has {trivial:.3}")))
}

/// Mean negative log-likelihood of normal predictions.
fn likelihood(y: &Array1<f64>, mean: &Array1<f64>, variance: &Array1<f64>) -> f64 {
    let rows = y.iter().zip(mean).zip(variance);
    let each = rows.map(|((y, mean), variance)| {
        0.5 * ((std::f64::consts::TAU * variance).ln() + (y - mean).powi(2) / variance)
    });
    each.sum::<f64>() / y.len() as f64
}

fn root_mean_square(errors: &Array1<f64>) -> f64 {
    (errors.dot(errors) / errors.len() as f64).sqrt()
}

fn deviation(y: ArrayView1<f64>) -> f64 {
    y.std(0.0)
}
