//! Rounding of numbers that are recorded for plotting.

/// The value to six significant digits.
pub(crate) fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
