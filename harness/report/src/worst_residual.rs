//! Right-hand sides whose residual is above the tolerance, where the mean over all of them is within it.

use gpbench_record::metric::{self, Metric};
use gpbench_record::{WITHIN, names};

use crate::frame::{CaseView, Cases};

/// Follows a largest residual that the mean hides.
pub(crate) const MARK: &str = "‡";

/// The columns with that of the largest residual after that of the mean, where some mean hides one above the tolerance.
pub(crate) fn with_column(cases: &Cases<'_>, mut columns: Vec<&'static Metric>) -> Vec<&'static Metric> {
    let mean = columns.iter().position(|metric| metric.name == names::RESIDUAL_PROBES);
    if let (Some(mean), Some(worst)) = (mean, metric::find(names::RESIDUAL_MAX))
        && !columns.contains(&worst)
        && cases.iter().any(is_hidden)
    {
        columns.insert(mean + 1, worst);
    }
    columns
}

/// The remark on the marked residuals; none where there are none.
pub(crate) fn remark(cases: &Cases<'_>) -> Option<String> {
    let count = cases.iter().filter(|case| is_hidden(*case)).count();
    let what = "the largest residual of a right-hand side is above the tolerance, which the mean meets, in";
    (count > 0).then(|| format!("{what} {count} of {} cases", cases.len()))
}

/// Whether the mean residual of the probes is within the tolerance of a case, and the largest residual is not.
pub(crate) fn is_hidden(case: CaseView<'_>) -> bool {
    let Some(most) = case.case().budget.tolerance.map(|tolerance| tolerance * WITHIN) else { return false };
    let is_above = |name: &str| case.metric(name).map(|residual| residual > most);
    case.is_answer()
        && is_above(names::RESIDUAL_MAX) == Some(true)
        && is_above(names::RESIDUAL_PROBES) == Some(false)
}
