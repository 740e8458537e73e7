//! What a case of Thompson sampling found, step by step.

use std::collections::BTreeMap;

use gpbench_record::{Row, Step, names};

use crate::aggregate::Problem;

/// What solvers are paired on: an objective, its design, and all that is drawn beside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target {
    pub(crate) problem: Problem,
    pub(crate) seed: u64,
}

/// One solver's search on one target; timing repeats are averaged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Search {
    pub(crate) target: Target,
    pub(crate) solver: String,
    /// The design, then each step.
    pub(crate) stops: Vec<Stop>,
    /// The best value of random search at each stop; empty where it is not known.
    pub(crate) random: Vec<f64>,
}

/// What was spent until the end of a step, and what was found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Stop {
    /// Points acquired.
    pub(crate) points: f64,
    /// Wall-clock seconds of each of [`PARTS`]; not numbers where times are not shown.
    pub(crate) parts: [f64; PARTS.len()],
    /// Kernel entries of the solves.
    pub(crate) entries: f64,
    /// The largest value of the objective at all points.
    pub(crate) best: f64,
    /// The objective's mean over the points that the step's samples chose; absent of the design.
    pub(crate) chosen: Option<f64>,
}

/// What searches are judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The largest value found.
    Best,
    /// The mean value at the chosen points: where points of another run are acquired, the largest value is that run's.
    Chosen,
}

/// The metrics of a step's seconds, in the order in which its parts run: building systems, the solver, candidates, ascents.
pub(crate) const PARTS: [&[&str]; 4] = [
    &[names::SECONDS_POSE],
    &[names::SECONDS_PREPARE, names::SECONDS_SOLVE],
    &[names::SECONDS_CANDIDATES],
    &[names::SECONDS_ASCENT],
];

/// Share of another solver's gain that a search has to reach.
const SHARE: f64 = 0.9;

impl Search {
    /// The search of a solver on a target, of its timing repeats; `None` where they took no step.
    pub(crate) fn new(target: Target, solver: &str, repeats: &[&Row]) -> Option<Search> {
        let stops: Vec<Vec<Stop>> = repeats.iter().filter_map(|row| stops(row)).collect();
        let length = stops.iter().map(Vec::len).min().filter(|length| *length > 1)?;
        let random = repeats.iter().find_map(|row| random(row)).unwrap_or_default();
        let stops = (0..length).map(|i| mean(&stops.iter().map(|stops| stops[i]).collect::<Vec<Stop>>()));
        Some(Search { target, solver: solver.to_owned(), stops: stops.collect(), random })
    }

    /// The stop after so many steps, or the last one.
    pub(crate) fn stop(&self, step: usize) -> &Stop {
        &self.stops[step.min(self.stops.len() - 1)]
    }

    /// The last stop.
    pub(crate) fn end(&self) -> &Stop {
        self.stop(self.stops.len())
    }

    /// By how much the best value exceeds that of random search with as many points.
    pub(crate) fn gain(&self, step: usize) -> Option<f64> {
        let random = self.random.get(step.min(self.stops.len() - 1))?;
        Some(self.stop(step).best - random)
    }

    /// The number that searches are compared by.
    pub(crate) fn score(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Best => Some(self.end().best),
            Measure::Chosen => {
                let chosen: Vec<f64> = self.stops.iter().filter_map(|stop| stop.chosen).collect();
                (!chosen.is_empty()).then(|| chosen.iter().sum::<f64>() / chosen.len() as f64)
            }
        }
    }

    /// The first step with which the search has reached [`SHARE`] of another's gain over random search on the same target;
    /// `None` where it has not, or where the other gained nothing.
    pub(crate) fn reaches(&self, other: &Search) -> Option<usize> {
        let gain = other.gain(other.stops.len()).filter(|gain| *gain > 0.0)?;
        let level = other.end().best - (1.0 - SHARE) * gain;
        self.stops.iter().position(|stop| stop.best >= level)
    }
}

impl Stop {
    /// Wall-clock seconds of all parts.
    pub(crate) fn seconds(&self) -> f64 {
        self.parts.iter().sum()
    }
}

impl Measure {
    /// The measure at a stop.
    pub(crate) fn of(self, stop: &Stop) -> Option<f64> {
        match self {
            Measure::Best => Some(stop.best),
            Measure::Chosen => stop.chosen,
        }
    }

    /// The metric of a step that it is.
    pub(crate) fn metric(self) -> &'static str {
        match self {
            Measure::Best => names::BEST,
            Measure::Chosen => names::BATCH_MEAN,
        }
    }
}

/// The design and the steps of a case.
fn stops(row: &Row) -> Option<Vec<Stop>> {
    let batch = row.case.task.thompson()?.targets.probes as f64;
    let mut stop = Stop { best: row.metrics.get(names::BEST_START)?, ..Stop::default() };
    let mut stops = vec![stop];
    for step in row.output.steps() {
        stop.points += batch;
        for (sum, part) in stop.parts.iter_mut().zip(PARTS) {
            *sum += seconds(step, part);
        }
        stop.entries += step.metrics.get(names::ENTRIES).unwrap_or(0.0);
        stop.best = step.metrics.get(names::BEST).unwrap_or(stop.best);
        stop.chosen = step.metrics.get(names::BATCH_MEAN);
        stops.push(stop);
    }
    Some(stops)
}

/// Seconds of a part of a step: 0 of a part that it does not have, not a number where its times are not shown.
fn seconds(step: &Step, part: &[&str]) -> f64 {
    let is_timed = PARTS.iter().copied().flatten().any(|name| step.metrics.get(name).is_some());
    let sum: f64 = part.iter().filter_map(|name| step.metrics.get(name)).sum();
    if is_timed { sum } else { f64::NAN }
}

/// The best values of random search, that of the design first.
fn random(row: &Row) -> Option<Vec<f64>> {
    let later = &row.output.thompson()?.random_search;
    let start = row.metrics.get(names::BEST_START).filter(|_| !later.is_empty())?;
    Some([start].into_iter().chain(later.iter().copied()).collect())
}

/// The mean of the same stop of several repeats, which differ in their seconds alone.
fn mean(repeats: &[Stop]) -> Stop {
    let seconds =
        |part: usize| repeats.iter().map(|stop| stop.parts[part]).sum::<f64>() / repeats.len() as f64;
    Stop { parts: std::array::from_fn(seconds), ..repeats[0] }
}

/// The rows of a solver by seed.
pub(crate) fn by_seed<'a>(rows: impl Iterator<Item = &'a Row>) -> BTreeMap<u64, Vec<&'a Row>> {
    let mut of_seed: BTreeMap<u64, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        of_seed.entry(row.labels.seed).or_default().push(row);
    }
    of_seed
}
