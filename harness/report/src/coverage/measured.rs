//! Values of a paper's cells in published runs.

use std::collections::BTreeMap;

use gpbench_record::names;

use super::cell::{Cell, Quantity};
use super::published_run::PublishedRun;
use crate::aggregate::{Group, MeanWithError};
use crate::frame::{Cases, Frame};
use crate::reference::Reference;
use crate::results::Results;

/// Largest relative difference of a number of inducing points from the printed one.
const NEAR: f64 = 0.05;

/// Our value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    /// Mean over seeds.
    pub(super) ours: MeanWithError,
    /// Name of the published run.
    pub(super) run: String,
    /// The data set, as the run's spec names it.
    pub(super) dataset: String,
    /// The solver, as the run's spec names it.
    pub(super) solver: String,
    /// Whether the solver stands for what the paper's method converges to.
    pub(super) stands_in: bool,
}

/// Our values by the keys of cells. Of several runs that measured a cell, the one with the most seeds counts; of equals, one
/// with the paper's own method, then the first by name. Nothing is averaged over runs.
pub(super) fn measured(
    name: &str,
    reference: &Reference,
    runs: &[PublishedRun],
) -> BTreeMap<String, Measured> {
    let mut best: BTreeMap<String, Measured> = BTreeMap::new();
    for published in runs.iter().filter(|run| run.reference.as_deref() == Some(name)) {
        for (key, found) in of_run(reference, published) {
            let rank = |measured: &Measured| (measured.ours.seeds, !measured.stands_in);
            if best.get(&key).is_none_or(|known| rank(&found) > rank(known)) {
                best.insert(key, found);
            }
        }
    }
    best
}

fn of_run(reference: &Reference, published: &PublishedRun) -> Vec<(String, Measured)> {
    let mut all = Vec::new();
    let frame = Frame::stored(&published.run, published.results.clone());
    let cases = Cases::of(&frame);
    for task in cases.tasks() {
        let results = Results::new(cases.of_task(task));
        for group in &results.groups {
            all.extend(of_group(reference, published, &results, group));
        }
    }
    all
}

fn of_group(
    reference: &Reference,
    published: &PublishedRun,
    results: &Results<'_>,
    group: &Group,
) -> Vec<(String, Measured)> {
    let case = results.case(group);
    // A learner's inducing points are a part of the method.
    let points = group.mean(names::INDUCING_POINTS).filter(|_| case.task.learning().is_none());
    let Some((method, rows)) = reference.rows_of(case, points) else { return Vec::new() };
    let low_noise = reference.is_low_noise(case);
    let mut all = Vec::new();
    for cell in Cell::all(reference) {
        let is_of_row = rows.iter().any(|(table, row)| *table == cell.table && *row == cell.row);
        let has_points =
            cell.row.m.is_none_or(|m| points.is_some_and(|own| (own / m as f64 - 1.0).abs() < NEAR));
        let is_likelihood = matches!(cell.quantity, Quantity::Nll | Quantity::Llh);
        let is_compared = !is_likelihood || method.compares_nll(case);
        if !is_of_row || !has_points || !is_compared || (cell.quantity == Quantity::LowNoiseRmse) != low_noise
        {
            continue;
        }
        let (metric, factor) = cell.quantity.metric();
        let Some(ours) = group.metrics.get(metric) else { continue };
        let measured = Measured {
            ours: ours.scaled(factor),
            run: published.name.clone(),
            dataset: group.problem.dataset.clone(),
            solver: group.solver.clone(),
            stands_in: method.converged,
        };
        all.push((cell.key(), measured));
    }
    all
}
