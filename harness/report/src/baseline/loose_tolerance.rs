//! Loose tolerances: those that let almost any regression pass.

use super::file::Baseline;
use crate::number::short;

/// Ratio of a tolerance to a measured value from which the tolerance is loose.
pub(super) const LOOSE_RATIO: f64 = 1e4;

/// A warning for each tolerance of the file that is loose for some case. The defaults of the registry give none: they bound
/// rounding, and are far above the errors of an exact solver.
pub(super) fn warnings(baseline: &Baseline) -> Vec<String> {
    let warning = |(metric, tolerance): (&String, &super::BaselineTolerance)| {
        let measured = baseline.cases.iter().filter_map(|case| Some((&case.key, case.metrics.get(metric)?)));
        let is_loose = |value: f64| value != 0.0 && tolerance.margin(value) >= LOOSE_RATIO * value.abs();
        let mut loose = measured.filter(|(_, value)| is_loose(*value));
        let (case, value) = loose.next()?;
        let others = match loose.count() {
            0 => String::new(),
            more => format!(", and {more} more cases alike"),
        };
        let margin = short(tolerance.margin(value));
        Some(format!(
            "warning: the tolerance of {metric} is {margin}, but the case {case} measured {}{others}: such a \
             regression would pass",
            short(value)
        ))
    };
    baseline.tolerance.iter().filter_map(warning).collect()
}
