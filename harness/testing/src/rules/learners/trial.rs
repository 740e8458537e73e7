//! Shared by the rules: requests, fits, and comparisons.

use gpbench_host::CallError;
use gpbench_terms::{Activation, Capability, Covariance, Family, NetworkShape, ParamValue, Reason};
use ndarray::{Array1, Array2, Axis};

use super::fit_run::{End, FitRun, Used};
use super::request::FitRequest;
use crate::rules::{Finding, KernelSystem, Subject};

/// Number of inducing points, for a learner that needs them.
const POINTS: usize = 15;

/// Number of rows in a batch, for a learner that has such a parameter.
pub(super) const BATCH: usize = 16;

impl FitRequest {
    /// A request for `n` rows of a smooth function of three inputs with noise, for two passes on one thread. Learners
    /// that do not support stationary kernels get a linear one on a small network, or the RBF kernel if they do not
    /// support networks.
    pub(super) fn new(subject: &Subject<'_>, n: usize, seed: u64) -> FitRequest {
        let x = KernelSystem::new(n, seed).x;
        let y = targets(&x);
        let basis = subject.can(Capability::Inducing).then(|| {
            let points = POINTS.min(n);
            // Rows are sorted by an input, so points are spread over them.
            let rows: Vec<usize> = (0..points).map(|point| point * n / points).collect();
            x.select(Axis(0), &rows)
        });
        let network = (!subject.can(Capability::Kernel) && subject.can(Capability::Network))
            .then(|| NetworkShape { widths: vec![12, 8], activation: Activation::Relu, random: None });
        let covariance = match network {
            Some(_) => Covariance::Linear,
            None if subject.can(Capability::Kernel) => Covariance::Stationary(Family::Matern32),
            None => Covariance::Stationary(Family::Rbf),
        };
        // With a network, one length scale serves all of its outputs.
        let shared_length_scale = network.is_some();
        let request = FitRequest {
            x,
            y,
            basis,
            covariance,
            network,
            shared_length_scale,
            trained_mean: false,
            passes: 2.0,
            pause: false,
            threads: 1,
            seed: 1,
        };
        match subject.expect.fit {
            Some(change) => change(request),
            None => request,
        }
    }
}

/// A smooth function with noise that does not depend on the order of the rows, of about unit variance.
pub(super) fn targets(x: &Array2<f64>) -> Array1<f64> {
    let target = |row: ndarray::ArrayView1<f64>| {
        let at = |k: usize| row.get(k).copied().unwrap_or_default();
        let noise = (1e4 * row.iter().enumerate().map(|(k, x)| (k + 1) as f64 * x).sum::<f64>()).sin();
        (1.6 * at(0)).sin() + 0.8 * (1.3 * at(1)).cos() + 0.4 * at(2) - 0.4 + 0.15 * noise
    };
    x.rows().into_iter().map(target).collect()
}

/// Test rows between and beyond the training rows, with their targets.
pub(super) fn test_rows(m: usize, seed: u64) -> (Array2<f64>, Array1<f64>) {
    let x = KernelSystem::new(m, seed).x;
    let y = targets(&x);
    (x, y)
}

/// Rows of a batch as a parameter, if the learner has one that takes them.
pub(super) fn batch(subject: &Subject<'_>, rows: usize) -> Vec<(&'static str, ParamValue)> {
    let takes = subject.param("batch").is_some_and(|parameter| {
        let within = |bound: Option<f64>, above: bool| {
            bound.is_none_or(|bound| if above { rows as f64 <= bound } else { rows as f64 >= bound })
        };
        matches!(parameter.default, ParamValue::Int(_))
            && within(parameter.min, false)
            && within(parameter.max, true)
    });
    if takes { vec![("batch", ParamValue::Int(rows as i64))] } else { Vec::new() }
}

/// A fit that is over.
pub(super) struct Fitted<'s> {
    pub(super) object: FitRun<'s>,
    pub(super) reason: Reason,
}

/// Continues a fit until it is over. Fails if it pauses too often.
pub(super) fn finish(object: &mut FitRun<'_>) -> Result<Reason, Finding> {
    for _ in 0..10_000 {
        if let End::Ended(reason) = object.fit()? {
            return Ok(reason);
        }
    }
    Err(Finding::Failed("the fit did not end within 10 000 steps".into()))
}

/// Fits with small batches.
pub(super) fn fit<'s>(subject: &'s Subject<'s>, request: &FitRequest) -> Result<Fitted<'s>, Finding> {
    fit_with(subject, request, &batch(subject, BATCH))
}

/// Fits with these parameters.
pub(super) fn fit_with<'s>(
    subject: &'s Subject<'s>,
    request: &FitRequest,
    settings: &[(&str, ParamValue)],
) -> Result<Fitted<'s>, Finding> {
    let mut object = FitRun::begin(subject, request, settings)?;
    let reason = finish(&mut object)?;
    Ok(Fitted { object, reason })
}

impl Fitted<'_> {
    /// Ends the object.
    pub(super) fn end(self) -> Result<(), Finding> {
        Ok(self.object.end()?)
    }
}

/// Data by which two fits are compared bit by bit: steps, objectives and predictions.
#[derive(PartialEq)]
pub(super) struct Bits {
    objectives: Vec<u64>,
    predictions: Vec<u64>,
    passes: u64,
    rows: u64,
}

impl Bits {
    /// Objectives and predictions, in their order.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        self.objectives.iter().chain(&self.predictions).copied()
    }
}

/// The bits of a fit; with `steps`, only the last `steps` objectives.
pub(super) fn bits(object: &mut FitRun<'_>, steps: Option<usize>) -> Result<Bits, CallError> {
    let (x, _) = test_rows(23, 91);
    let predictions = object.predict(&x)?;
    let Used { objectives, passes, rows, .. } = object.used();
    let from = steps.map_or(0, |steps| objectives.len().saturating_sub(steps));
    let words = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect();
    Ok(Bits {
        objectives: words(&objectives[from..]),
        predictions: predictions.iter().map(|value| value.to_bits()).collect(),
        passes: passes.to_bits(),
        rows: rows.to_bits(),
    })
}

/// The bits of a whole fit, whose object is ended.
pub(super) fn bits_of(subject: &Subject<'_>, request: &FitRequest) -> Result<Bits, Finding> {
    let mut fitted = fit(subject, request)?;
    let bits = bits(&mut fitted.object, None)?;
    fitted.end()?;
    Ok(bits)
}

/// Skips if two equal fits give different bits, which is the subject of the rule `same-seed`.
pub(super) fn demand_repeatable(subject: &Subject<'_>, request: &FitRequest) -> Result<Bits, Finding> {
    let (first, second) = (bits_of(subject, request)?, bits_of(subject, request)?);
    if first == second {
        return Ok(first);
    }
    Err(Finding::Skipped("two equal fits differ, so fits cannot be compared".into()))
}

/// Fails if a fit that is over lacks finite predictions with positive variances, unless it reports divergence.
pub(super) fn demand_sound(fitted: &mut Fitted) -> Result<(), Finding> {
    if fitted.reason == Reason::Diverged {
        return Ok(());
    }
    let (x, _) = test_rows(9, 92);
    demand_finite(&fitted.object.predict(&x)?)
}

/// Fails if predictions are not finite.
pub(super) fn demand_finite(predictions: &Array2<f64>) -> Result<(), Finding> {
    if predictions.iter().all(|number| number.is_finite()) {
        return Ok(());
    }
    Err(Finding::Failed("its predictions are not finite, and it does not say that it diverged".into()))
}
