//! How each metric is named, worded and written.

use gpbench_record::names;

/// Wall-clock seconds of prepare and solve together: derived here, never stored in a journal.
pub(crate) const SECONDS: &str = "seconds";

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Four decimals.
    Fixed,
    /// Two significant digits and an exponent.
    Scientific,
    /// Three significant digits.
    Short,
    /// Bytes as MiB.
    Memory,
}

/// A column of a results table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Metric {
    /// Name in journals and JSON.
    pub(crate) name: &'static str,
    /// Heading of a column.
    pub(crate) title: &'static str,
    /// Title of an axis.
    pub(crate) axis: &'static str,
    /// How values are written.
    pub(crate) style: Style,
    /// Whether a smaller value is a better answer, so that the best is worth marking.
    pub(crate) ranked: bool,
}

const fn metric(
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    style: Style,
    ranked: bool,
) -> Metric {
    Metric { name, title, axis, style, ranked }
}

/// Metrics of the results tables, in the order of their columns: the solver's
/// own error first, since prediction errors hardly move with it.
pub(crate) const COLUMNS: &[Metric] = &[
    metric(names::RESIDUAL_Y, "residual y", "relative residual of y", Style::Scientific, true),
    metric(
        names::RESIDUAL_PROBES,
        "residual probes",
        "mean relative residual of the probes",
        Style::Scientific,
        true,
    ),
    metric(names::TEST_RMSE, "test RMSE", "test RMSE", Style::Fixed, true),
    metric(names::TEST_NLL, "test NLL", "test NLL", Style::Fixed, true),
    metric(names::TEST_NLL_EXACT, "exact NLL", "test NLL of the exact GP", Style::Fixed, false),
    metric(names::RMSE_TO_EXACT, "RMSE to exact", "RMSE to the exact mean", Style::Scientific, true),
    metric(names::EPOCHS, "epochs", "epochs (n² kernel entries)", Style::Short, true),
    metric(names::ITERATIONS, "iterations", "iterations", Style::Short, false),
    metric(names::SECONDS_PREPARE, "prepare [s]", "seconds of prepare", Style::Short, false),
    metric(names::SECONDS_SOLVE, "solve [s]", "seconds of solve", Style::Short, false),
    metric(SECONDS, "total [s]", "seconds (prepare + solve)", Style::Short, true),
    metric(names::PEAK_MEMORY_BYTES, "memory [MiB]", "peak memory", Style::Memory, true),
];

/// The column of a metric.
pub(crate) fn find(name: &str) -> Option<&'static Metric> {
    COLUMNS.iter().find(|m| m.name == name)
}

impl Style {
    /// The number as a table shows it.
    pub(crate) fn format(self, value: f64) -> String {
        match self {
            Style::Fixed => signed_zero(format!("{value:.4}")),
            Style::Scientific => scientific(value),
            Style::Short => short(value),
            Style::Memory => format!("{:.0}", value / f64::from(1 << 20)),
        }
    }

    /// A standard error in the digits of its mean.
    pub(crate) fn format_spread(self, mean: f64, spread: f64) -> String {
        match self {
            Style::Short => {
                let decimals = short(mean).split_once('.').map_or(0, |(_, tail)| tail.len());
                format!("{spread:.decimals$}")
            }
            _ => self.format(spread),
        }
    }
}

fn signed_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        _ => text,
    }
}

/// Two significant digits: `9.8e-3`.
pub(crate) fn scientific(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") }
}

/// Three significant digits without an exponent where that is readable.
pub(crate) fn short(value: f64) -> String {
    significant(value, 3)
}

/// Five significant digits, to tell a value from a limit close by.
pub(crate) fn precise(value: f64) -> String {
    significant(value, 5)
}

fn significant(value: f64, digits: i32) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e7).contains(&size) {
        let decimals = digits as usize - 1;
        return format!("{value:.decimals$e}");
    }
    let decimals = (digits - 1 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') && size >= 1.0 && value.fract() == 0.0 {
        true => format!("{value:.0}"),
        false => text,
    }
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
    }
}
