//! Distances to the optimum of the likelihood, where a case does better than the search for it: they are then
//! distances to that case.

use std::collections::BTreeMap;

use gpbench_record::{Metrics, OptimumRequest, Row, names};

/// Difference of log likelihoods per row above which a case is said to do better than the search, which ends at small
/// gains.
const NOTABLE: f64 = 1e-6;

/// Makes the smallest distance to each optimum 0 where it is negative, and the optimum's likelihood that of the best
/// case. Where the difference is notable, each case that is compared with this optimum has it as a metric.
pub(crate) fn settle(rows: &mut [Row]) {
    let mut excesses: BTreeMap<String, f64> = BTreeMap::new();
    for row in rows.iter() {
        let Some(optimum) = optimum(row) else { continue };
        let steps = row.output.steps().iter().map(|step| &step.metrics);
        let distances =
            steps.chain([&row.metrics]).filter_map(|metrics| metrics.get(names::OPTIMUM_DISTANCE));
        let excess = excesses.entry(optimum).or_default();
        *excess = distances.fold(*excess, |most, distance| most.max(-distance));
    }
    for row in rows.iter_mut() {
        let excess = optimum(row).and_then(|optimum| excesses.get(&optimum)).copied().unwrap_or_default();
        if excess > 0.0 {
            raise(row, excess);
        }
    }
}

/// What tells the optimum of a row from others, for a row that is compared with one.
fn optimum(row: &Row) -> Option<String> {
    row.metrics.get(names::OPTIMUM_LIKELIHOOD)?;
    Some(OptimumRequest::of(&row.case, 1)?.key(None, ""))
}

/// Takes an optimum as so much greater, in log likelihood per row.
fn raise(row: &mut Row, excess: f64) {
    let mut steps = row.output.steps().to_vec();
    let metrics = steps.iter_mut().map(|step| &mut step.metrics);
    metrics.chain([&mut row.metrics]).for_each(|metrics| add(metrics, names::OPTIMUM_DISTANCE, excess));
    row.output.set_steps(steps);
    add(&mut row.metrics, names::OPTIMUM_LIKELIHOOD, excess * row.n.unwrap_or_default() as f64);
    if excess > NOTABLE {
        row.metrics.insert(names::OPTIMUM_EXCEEDED, excess);
    }
}

/// Adds to a metric, where there is one.
fn add(metrics: &mut Metrics, name: &str, amount: f64) {
    if let Some(value) = metrics.get(name) {
        metrics.insert(name, value + amount);
    }
}
