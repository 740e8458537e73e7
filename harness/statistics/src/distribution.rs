//! The distributions of intervals and tests.
//!
//! The quantiles of `statrs` are refined by Newton steps. Its normal distribution function is exact to 1e-11 only,
//! and `libm`'s error function takes its place.

use std::f64::consts::PI;

use statrs::distribution::{Beta, Continuous, ContinuousCDF, StudentsT};
use statrs::function::erf::erfc_inv;

/// Newton steps after the library's own iteration; two reach rounding.
const STEPS: usize = 3;

/// The 97.5 % quantile of Student's t distribution with `df` degrees of freedom, the factor of a 95 % interval.
/// NaN unless `df` is positive.
pub fn t_quantile(df: f64) -> f64 {
    let Ok(t) = StudentsT::new(0.0, 1.0, df) else { return f64::NAN };
    (0..STEPS).fold(t.inverse_cdf(0.975), |x, _| x + (t.sf(x) - 0.025) / t.pdf(x))
}

/// Probability that a value of Student's t distribution with `df` degrees of freedom is at least `t` away from zero.
pub fn t_two_sided_p(t: f64, df: f64) -> f64 {
    StudentsT::new(0.0, 1.0, df).map_or(f64::NAN, |of| (2.0 * of.sf(t.abs())).min(1.0))
}

/// Quantile `q` of the Beta distribution with shapes `a` and `b`.
pub(crate) fn beta_quantile(q: f64, a: f64, b: f64) -> f64 {
    let Ok(beta) = Beta::new(a, b) else { return f64::NAN };
    let step = |x: f64| x - (beta.cdf(x) - q) / beta.pdf(x);
    (0..STEPS).fold(beta.inverse_cdf(q), |x, _| Some(step(x)).filter(|x| *x > 0.0 && *x < 1.0).unwrap_or(x))
}

/// Distribution function of the standard normal distribution.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// Density of the standard normal distribution.
pub(crate) fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

/// Quantile of the standard normal distribution.
pub fn normal_quantile(q: f64) -> f64 {
    let start = -std::f64::consts::SQRT_2 * erfc_inv(2.0 * q);
    if !start.is_finite() {
        return start;
    }
    (0..STEPS).fold(start, |z, _| z - (normal_cdf(z) - q) / normal_density(z))
}
