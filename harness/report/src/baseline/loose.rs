//! Tolerances that let almost any regression pass.

use super::file::Baseline;
use crate::number::short;

/// A tolerance this many times what a case measured is loose.
pub(super) const LOOSE: f64 = 1e4;

/// A warning for each tolerance of the file that is loose for some case. The registry's own tolerances are floors of
/// rounding, far above an exact solver's errors.
pub(super) fn warnings(baseline: &Baseline) -> Vec<String> {
    let warning = |(metric, tolerance): (&String, &super::Tolerance)| {
        let measured = baseline.cases.iter().filter_map(|case| Some((&case.key, case.metrics.get(metric)?)));
        let is_loose = |value: f64| value != 0.0 && tolerance.margin(value) >= LOOSE * value.abs();
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
