//! Which cases are compared with the optimum of the likelihood.

use gpbench_record::Covariance;

use super::rules::CellEntries;
use crate::axes::Axes;
use crate::error::Mistakes;
use crate::keys::Setting;

/// Whether a cell is compared with the optimum: its rows are few enough, and its kernel is that of a Gaussian process
/// on the inputs themselves.
pub(super) fn is_sought(most: &Setting<usize>, cell: &CellEntries<'_>, validation: Option<f64>) -> bool {
    let is_plain = cell.kernel.network.is_none() && matches!(cell.kernel.family, Covariance::Stationary(_));
    let n = cell.dataset.n(cell.seed, validation);
    is_plain && n.is_some_and(|n| n <= most.value)
}

/// Reports an optimum that is asked for and that no data set is small enough for.
pub(super) fn check(
    most: &Setting<usize>,
    axes: &Axes<'_>,
    validation: Option<f64>,
    mistakes: &mut Mistakes,
) {
    let Some(at) = most.at.as_ref().filter(|_| most.value > 0) else { return };
    let rows: Option<Vec<usize>> = axes.datasets.iter().map(|dataset| dataset.n(0, validation)).collect();
    let Some(least) = rows.and_then(|rows| rows.into_iter().min()).filter(|least| *least > most.value) else {
        return;
    };
    let what = format!("`optimum` has no effect: every data set has more than {} training rows", most.value);
    let hint = format!(
        "write a number of rows, such as optimum = {least}, whose search takes n^2 memory and n^3 time"
    );
    mistakes.add(at, what, hint);
}
