//! When a solver has to stop.

use gpbench_record::Budget;

use crate::error::Mistakes;
use crate::typed::BudgetTable;

/// The spec's budget with a solver's own bounds put over it, key by key.
pub(crate) fn resolve(common: &BudgetTable, own: &BudgetTable, mistakes: &mut Mistakes) -> Budget {
    let tolerance = own.tolerance.as_ref().or(common.tolerance.as_ref());
    if let Some(tolerance) = tolerance
        && !(tolerance.value > 0.0 && tolerance.value < 1.0)
    {
        let hint =
            "it is a relative residual norm: more than 0 and, as the zero vector reaches 1, less than 1";
        mistakes.add(
            &tolerance.at,
            format!("a tolerance of {} is impossible", tolerance.value),
            hint.to_owned(),
        );
    }
    let max_epochs = own.max_epochs.as_ref().or(common.max_epochs.as_ref());
    if let Some(epochs) = max_epochs
        && !(epochs.value > 0.0 && epochs.value.is_finite())
    {
        mistakes.add(&epochs.at, format!("`max_epochs` must be positive, not {}", epochs.value), None);
    }
    Budget {
        tolerance: tolerance.map(|t| t.value),
        max_epochs: max_epochs.map(|e| e.value),
        seconds: own.seconds.as_ref().or(common.seconds.as_ref()).map(|s| s.value),
        memory_bytes: own.memory_bytes.as_ref().or(common.memory_bytes.as_ref()).map(|m| m.value),
    }
}
