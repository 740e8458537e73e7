//! The search for neighbours among earlier rows.

use gpbench_sdk::ndarray::{Axis, s};
use gpbench_sdk::neighbours::{self, Earlier, strongest};
use gpbench_sdk::{Result, Workers};

use crate::rest::Rest;
use crate::{Data, Process};

/// Finds the neighbours of all rows, at most `m` of each, and the number of kernel entries or distances that this
/// took.
///
/// Without inducing points they are the nearest rows in x / length_scale; with them, those of the largest correlation
/// in what the points leave. Of equally near ones the earlier are taken.
///
/// # Errors
/// [`NotPositiveDefinite`](gpbench_sdk::Error::NotPositiveDefinite): the scales have diverged.
pub fn search(at: &Process, data: &Data, m: usize, workers: Workers<'_>) -> Result<(Earlier, usize)> {
    let n = data.n();
    if !at.has_points() {
        let scaled = neighbours::scaled(&data.ordered_x, &at.kernel().length_scale)?;
        let found = neighbours::earlier(&scaled, m, workers)?;
        let distances = found.distances;
        return Ok((found, distances));
    }
    let rest = Rest::new(at, &data.ordered_x, workers)?;
    let points = at.points().nrows();
    let found = Earlier::from_fn(n, m, workers, |rows| {
        let (first, end) = (rows.start, rows.end);
        let (x, features) = (data.ordered_x.slice(s![rows.clone(), ..]), rest.features.slice(s![.., rows]));
        let correlations = rest.correlations(end, &x, &features);
        let columns = correlations.axis_iter(Axis(1)).enumerate();
        columns.map(|(i, column)| strongest(column.iter().take(first + i).copied(), m)).collect()
    });
    Ok((found, n * n.saturating_sub(1) / 2 + points * (points + n)))
}
