//! Formats of numbers in tables and charts.

use gpbench_record::metric::{Metric, Style};

/// Formats values of a metric in its style.
pub(crate) trait Format {
    /// The value as text.
    fn format(self, value: f64) -> String;

    /// The factor from a value to its number in the text, such as that of MiB from bytes.
    fn scale(self) -> f64;

    /// A standard error with the digits of its mean.
    fn format_spread(self, mean: f64, spread: f64) -> String;
}

impl Format for Style {
    fn format(self, value: f64) -> String {
        match self {
            Style::Fixed => unsigned_zero(format!("{value:.4}")),
            Style::Scientific => scientific(value),
            Style::Short => short(value),
            Style::Memory => format!("{:.0}", value * self.scale()),
        }
    }

    fn scale(self) -> f64 {
        if self == Style::Memory { 1.0 / f64::from(1 << 20) } else { 1.0 }
    }

    fn format_spread(self, mean: f64, spread: f64) -> String {
        match self {
            Style::Short => match short(mean) {
                mean if mean.contains('e') => scientific(spread),
                mean => {
                    let decimals = mean.split_once('.').map_or(0, |(_, tail)| tail.len());
                    format!("{spread:.decimals$}")
                }
            },
            _ => self.format(spread),
        }
    }
}

/// A value of a metric, formatted as in tables.
pub fn number(metric: &Metric, value: f64) -> String {
    metric.style.format(value)
}

/// Removes the sign of a number that was rounded to zero.
pub(crate) fn unsigned_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        _ => text,
    }
}

/// The smallest and the largest of some values, or the one value that all have to three digits.
pub(crate) fn range(values: impl Iterator<Item = f64> + Clone) -> String {
    let lo = values.clone().fold(f64::INFINITY, f64::min);
    let hi = values.fold(f64::NEG_INFINITY, f64::max);
    if short(lo) == short(hi) { short(lo) } else { format!("{} to {}", short(lo), short(hi)) }
}

/// Two significant digits: `9.8e-3`.
pub(crate) fn scientific(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") }
}

/// Three significant digits, without an exponent where that is readable.
pub(crate) fn short(value: f64) -> String {
    significant(value, 3)
}

/// Two significant digits, as of a ratio with its interval.
pub(crate) fn ratio(value: f64) -> String {
    rounded(value, 2)
}

/// Five significant digits: enough to distinguish a value from a limit that it nearly meets.
pub(crate) fn precise(value: f64) -> String {
    significant(value, 5)
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", short(100.0 * share))
}

/// A factor: `2.5×`.
pub(crate) fn times(factor: f64) -> String {
    format!("{}×", short(factor))
}

/// So many significant digits; of a whole number of 1 or more, no decimals.
fn significant(value: f64, digits: i32) -> String {
    let is_whole = (1.0..1e7).contains(&value.abs()) && value.fract() == 0.0;
    if is_whole { format!("{value:.0}") } else { rounded(value, digits) }
}

/// So many significant digits, trailing zeros included.
fn rounded(value: f64, digits: i32) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e7).contains(&size) {
        let decimals = digits as usize - 1;
        return format!("{value:.decimals$e}");
    }
    let decimals = (digits - 1 - size.log10().floor() as i32).max(0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_the_digits_that_matter() {
        for (value, want) in
            [(0.0, "0"), (0.01234, "0.0123"), (1.0, "1"), (3.21, "3.21"), (512.4, "512"), (2.5e-9, "2.50e-9")]
        {
            assert_eq!(short(value), want);
        }
        assert_eq!(
            (precise(0.2958513), precise(11.0), precise(2.5e-9)),
            ("0.29585".into(), "11".into(), "2.5000e-9".into())
        );
        assert_eq!(Style::Fixed.format(-0.00001), "0.0000");
        assert_eq!(Style::Scientific.format(0.00982), "9.8e-3");
        assert_eq!(Style::Memory.format(3.0 * 1048576.0), "3");
        assert_eq!(Style::Short.format_spread(12.34, 0.5), "0.5");
        assert_eq!(Style::Short.format_spread(2.72e8, 1.637e6), "1.6e6");
        assert_eq!(Style::Short.format_spread(2.72e8, 0.0), "0");
    }
}
