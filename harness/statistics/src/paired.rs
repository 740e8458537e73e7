//! Two solvers on the same seeds.

use crate::distribution::t_two_sided_p;
use crate::estimate::{Estimate, Interval, finite, mean, sample_variance};

/// Standard deviations of differences below this share of the values are rounding.
const ROUNDING: f64 = 1e-6;

/// Two-sided p-value of a paired t test of differences by seed. `extra_variance` is as in [`crate::estimate()`];
/// `scale` is the mean absolute value of what is compared (1 for logarithms). The standard deviation counts as at
/// least 1e-6 of it, so that equal differences, which rounding can make, are no proof. 1 where all differences are
/// zero or fewer than two exist.
pub fn paired_p(differences: &[f64], extra_variance: f64, scale: f64) -> f64 {
    let differences = finite(differences);
    let (Some(mean), Some(variance)) = (mean(&differences), sample_variance(&differences)) else {
        return 1.0;
    };
    if differences.iter().all(|difference| *difference == 0.0) {
        return 1.0;
    }
    let count = differences.len() as f64;
    let sd = variance.sqrt().max(ROUNDING * scale);
    let p = t_two_sided_p(mean / (sd * (1.0 / count + extra_variance).sqrt()), count - 1.0);
    if p.is_nan() { 1.0 } else { p }
}

/// Mean logarithm of the distance between the first evaluation that reaches a target and the one before it, by seed.
/// A time to a target lies between these two.
pub fn bracket(reaching: &[f64], missing: &[f64]) -> f64 {
    let logs: Vec<f64> = reaching.iter().zip(missing).map(|(hit, before)| (hit / before).ln()).collect();
    mean(&logs).unwrap_or(0.0)
}

/// The ratio "B over A" of times to a target, with the distances between evaluations of A and of B ([`bracket`]) in
/// its interval.
pub fn widened(ratio: Estimate, of_a: f64, of_b: f64) -> Estimate {
    let wide = |of: Interval| Interval { low: of.low * (-of_b).exp(), high: of.high * of_a.exp() };
    Estimate { interval: ratio.interval.map(wide), ..ratio }
}

/// Relative noise of timings, exp(s) - 1, where s² is the pooled variance of log seconds within seeds. Takes the
/// seconds of the repeats of each seed; `None` where no seed has two.
pub fn timing_noise(repeats: &[Vec<f64>]) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for seconds in repeats {
        let logs: Vec<f64> = seconds.iter().map(|seconds| seconds.ln()).collect();
        let logs = finite(&logs);
        if let Some(variance) = sample_variance(&logs) {
            squares += variance * (logs.len() - 1) as f64;
            freedom += (logs.len() - 1) as f64;
        }
    }
    (freedom > 0.0).then(|| (squares / freedom).sqrt().exp() - 1.0)
}
