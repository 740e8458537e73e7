//! Calibration of Gaussian predictions.
//!
//! None of these has an error from test rows: the test rows of one training set share its error, so a standard error
//! over rows is up to five times too small. Errors are over seeds.

use statrs::function::gamma::digamma;

use crate::distribution::{normal_cdf, normal_density, normal_quantile, t_two_sided_p};

/// Nominal coverages of [`Calibration::coverage`] and [`Calibration::width`].
pub const NOMINAL: [f64; 3] = [0.5, 0.9, 0.95];

/// Points of [`Calibration::curve`]: nominal coverages 0.05, 0.10, ... 0.95.
pub const POINTS: usize = 19;

/// Bins of [`Calibration::pit`].
pub const BINS: usize = 10;

/// Nominal coverage of the point `at` of [`Calibration::curve`].
pub fn nominal(at: usize) -> f64 {
    (at + 1) as f64 / (POINTS + 1) as f64
}

/// How well predictions N(mean, variance) describe test targets.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Share of the targets within the central intervals of [`NOMINAL`].
    pub coverage: [f64; 3],
    /// Mean width of these intervals, in units of the targets.
    pub width: [f64; 3],
    /// Mean continuous ranked probability score (Gneiting and Raftery 2007), in units of the targets.
    pub crps: f64,
    /// Mean negative log likelihood.
    pub nll: f64,
    /// Mean squared error over the variance of the test targets; `None` if they are all equal.
    pub smse: Option<f64>,
    /// [`Calibration::nll`] less that of the trivial model, a normal distribution with the mean and variance of the
    /// training targets (Rasmussen and Williams 2006, p. 23); `None` if these are all equal or there are none.
    pub msll: Option<f64>,
    /// Mean of the squared standardised errors, 1 for a calibrated model.
    pub z_squared: f64,
    /// Coverage at the nominal coverages 0.05, 0.10, ... 0.95.
    pub curve: [f64; POINTS],
    /// Mean distance of the curve to the nominal coverages.
    pub error: f64,
    /// Number of targets by the probability that the prediction gives to smaller ones, in tenths; the last bin is
    /// closed.
    pub pit: [u64; BINS],
}

/// The calibration of predictions, whose variances include the noise. `None` without test rows, and where a value is
/// not finite or a variance not positive.
///
/// # Panics
///
/// If the lengths differ.
pub fn calibration(y: &[f64], mean: &[f64], variance: &[f64], y_train: &[f64]) -> Option<Calibration> {
    assert!(y.len() == mean.len() && y.len() == variance.len(), "one prediction for each target");
    let is_valid = y.iter().chain(mean).all(|value| value.is_finite())
        && variance.iter().all(|variance| variance.is_finite() && *variance > 0.0);
    if y.is_empty() || !is_valid {
        return None;
    }
    let sd: Vec<f64> = variance.iter().map(|variance| variance.sqrt()).collect();
    let z: Vec<f64> = (0..y.len()).map(|i| (y[i] - mean[i]) / sd[i]).collect();
    let half_widths = NOMINAL.map(|q| normal_quantile(0.5 * (1.0 + q)));
    let curve: [f64; POINTS] =
        std::array::from_fn(|at| covered(&z, normal_quantile(0.5 * (1.0 + nominal(at)))));
    let nll = average((0..y.len()).map(|i| negative_log_density(z[i], variance[i])));
    let squares = average((0..y.len()).map(|i| (y[i] - mean[i]).powi(2)));
    Some(Calibration {
        coverage: half_widths.map(|half| covered(&z, half)),
        width: half_widths.map(|half| 2.0 * half * average(sd.iter().copied())),
        crps: average((0..y.len()).map(|i| sd[i] * standard_crps(z[i]))),
        nll,
        smse: moments(y).map(|(_, variance)| squares / variance),
        msll: trivial_nll(y, y_train).map(|trivial| nll - trivial),
        z_squared: average(z.iter().map(|z| z * z)),
        curve,
        error: average(curve.iter().enumerate().map(|(at, coverage)| (coverage - nominal(at)).abs())),
        pit: pit(&z),
    })
}

/// Bound of the bias of the NLL where each variance is that of `samples` samples with a known mean, which no noise is
/// added to: the bias is that or less. `None` for two samples or fewer, where it has no bound.
pub fn sampled_nll_bias(samples: usize) -> Option<f64> {
    let m = samples as f64;
    (samples > 2).then(|| 0.5 * (digamma(0.5 * m) - (0.5 * m).ln() + m / (m - 2.0) - 1.0))
}

/// What the coverage of nominally 95 % becomes where each variance is that of `samples` samples, at worst.
pub fn sampled_coverage(samples: usize) -> f64 {
    1.0 - t_two_sided_p(normal_quantile(0.975), samples as f64)
}

/// Mean NLL of the normal distribution with the moments of the training targets.
fn trivial_nll(y: &[f64], y_train: &[f64]) -> Option<f64> {
    let (mean, variance) = moments(y_train)?;
    Some(average(y.iter().map(|y| negative_log_density((y - mean) / variance.sqrt(), variance))))
}

/// Mean and variance, with the divisor n; `None` unless the variance is positive.
fn moments(values: &[f64]) -> Option<(f64, f64)> {
    let mean = average(values.iter().copied());
    let variance = average(values.iter().map(|value| (value - mean).powi(2)));
    (variance > 0.0).then_some((mean, variance))
}

/// CRPS of the standard normal distribution at z.
fn standard_crps(z: f64) -> f64 {
    z * (2.0 * normal_cdf(z) - 1.0) + 2.0 * normal_density(z) - 1.0 / std::f64::consts::PI.sqrt()
}

fn negative_log_density(z: f64, variance: f64) -> f64 {
    0.5 * (z * z + (2.0 * std::f64::consts::PI * variance).ln())
}

/// Share of standardised errors up to `half`, both signs.
fn covered(z: &[f64], half: f64) -> f64 {
    z.iter().filter(|z| z.abs() <= half).count() as f64 / z.len() as f64
}

/// Counts of the probabilities below each standardised error, in bins of equal width.
fn pit(z: &[f64]) -> [u64; BINS] {
    let mut bins = [0; BINS];
    for z in z {
        bins[((normal_cdf(*z) * BINS as f64) as usize).min(BINS - 1)] += 1;
    }
    bins
}

/// The mean; NaN of nothing.
fn average(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_variances_and_empty_tests_have_no_calibration() {
        assert_eq!(calibration(&[], &[], &[], &[1.0, 2.0]), None);
        assert_eq!(calibration(&[1.0], &[1.0], &[0.0], &[1.0, 2.0]), None);
        assert_eq!(calibration(&[1.0], &[1.0], &[f64::INFINITY], &[1.0, 2.0]), None);
        let one = calibration(&[1.0], &[1.0], &[1.0], &[]).unwrap();
        assert_eq!((one.smse, one.msll, one.pit[5]), (None, None, 1));
        let far = calibration(&[100.0, -100.0], &[0.0, 0.0], &[1.0, 1.0], &[1.0, 2.0]).unwrap();
        assert_eq!((far.pit[0], far.pit[BINS - 1], far.coverage), (1, 1, [0.0; 3]));
    }
}
