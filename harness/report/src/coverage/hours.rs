//! Hours that cells would take by the estimates of `gpbench plan`: stored, so that pages do not vary with the machine.

use std::collections::BTreeMap;

use gpbench_record::{Case, Labels};
use serde::{Deserialize, Serialize};

use super::cell::{Cell, Quantity};
use crate::reference::Reference;

/// A spec that would measure cells of a paper, with the estimated seconds of its cases.
#[derive(Debug, Clone)]
pub struct SpecEstimate {
    /// The paper, as the spec names it in `[report] reference`.
    pub reference: String,
    /// The spec, relative to `benchmarks/`.
    pub spec: String,
    /// Cases with their seconds; `None` where there is no estimate.
    pub cases: Vec<(Labels, Case, Option<f64>)>,
}

/// The file of hours.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Hours {
    /// The processor of the machine that the estimates are for.
    pub machine: String,
    /// Threads of a case.
    pub threads: usize,
    /// The day of the estimate, as `2026-11-23`.
    pub day: String,
    /// By paper and key of a cell.
    #[serde(default)]
    pub(super) cells: BTreeMap<String, BTreeMap<String, Cost>>,
}

/// Cost of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Cost {
    /// Hours of all seeds.
    pub(super) hours: f64,
    /// The spec that measures it.
    pub(super) spec: String,
}

impl Hours {
    /// The hours of all cells that specs would measure. Of several solvers or specs that measure a cell, the cheapest counts.
    pub fn of(machine: String, threads: usize, day: String, estimates: &[SpecEstimate]) -> Hours {
        let mut cells: BTreeMap<String, BTreeMap<String, Cost>> = BTreeMap::new();
        for estimate in estimates {
            let Some(reference) = Reference::named(&estimate.reference) else { continue };
            let known = cells.entry(estimate.reference.clone()).or_default();
            for (keys, seconds) in of_spec(&reference, estimate) {
                // Minutes are beyond what an estimate knows.
                let cost = Cost { hours: (seconds / 36.0).ceil() / 100.0, spec: estimate.spec.clone() };
                for key in keys {
                    let old = known.get(&key);
                    if old.is_none_or(|old| cost.hours < old.hours) {
                        known.insert(key, cost.clone());
                    }
                }
            }
        }
        Hours { machine, threads, day, cells }
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let body = toml::to_string(self).unwrap_or_default();
        format!(
            "# Written by `gpbench coverage --hours`: estimates of `gpbench plan` for all seeds of a spec.\n{body}"
        )
    }
}

/// For each entry of a spec's axes but the seed: the cells that it measures, and the seconds of all its cases.
fn of_spec(reference: &Reference, estimate: &SpecEstimate) -> Vec<(Vec<String>, f64)> {
    let mut groups: BTreeMap<Labels, (&Case, Option<f64>)> = BTreeMap::new();
    for (labels, case, seconds) in &estimate.cases {
        let group = Labels { seed: 0, repeat: 0, solver: entry(labels, case), ..labels.clone() };
        let total = groups.entry(group).or_insert((case, Some(0.0)));
        total.1 = total.1.zip(*seconds).map(|(sum, seconds)| sum + seconds);
    }
    let cells = Cell::all(reference);
    let known = groups.into_values().filter_map(|(case, seconds)| Some((case, seconds?)));
    known.map(|(case, seconds)| (keys(reference, &cells, case), seconds)).collect()
}

/// The entry of the solver axis: one for all values of a grid.
fn entry(labels: &Labels, case: &Case) -> String {
    case.grid().map_or_else(|| labels.solver.clone(), |grid| grid.entry.clone())
}

fn keys(reference: &Reference, cells: &[Cell<'_>], case: &Case) -> Vec<String> {
    let Some((_, rows)) = reference.rows_of(case, None) else { return Vec::new() };
    let low_noise = reference.is_low_noise(case);
    let is_own = |cell: &&Cell<'_>| {
        (cell.quantity == Quantity::LowNoiseRmse) == low_noise
            && rows.iter().any(|(table, row)| *table == cell.table && *row == cell.row)
    };
    cells.iter().filter(is_own).map(Cell::key).collect()
}
