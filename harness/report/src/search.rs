//! Values found and costs of a case of Thompson sampling, step by step.

use std::collections::BTreeMap;

use gpbench_record::names;
use gpbench_statistics::median;

use crate::frame::{CaseView, Cells};
use crate::problem::GroupProblem;

/// Key by which searches are paired: an objective with its design and random draws.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target {
    pub(crate) problem: GroupProblem,
    pub(crate) seed: u64,
}

/// One solver's search on one target; the seconds of timing repeats are reduced to their median.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Search {
    pub(crate) target: Target,
    pub(crate) solver: String,
    /// The design, then each step.
    pub(crate) stops: Vec<Stop>,
    /// The best value of random search at each stop; empty where it is not known.
    pub(crate) random: Vec<f64>,
}

/// Cumulative costs at the end of a step, and the values found.
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

/// The quality by which searches are compared.
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

/// Share of another solver's gain that counts as reached.
const SHARE: f64 = 0.9;

impl Search {
    /// The search of a solver on a target, of its timing repeats; `None` where they took no step.
    pub(crate) fn new(target: Target, solver: &str, repeats: &[CaseView<'_>]) -> Option<Search> {
        let stops: Vec<Vec<Stop>> = repeats.iter().filter_map(stops).collect();
        let length = stops.iter().map(Vec::len).min().filter(|length| *length > 1)?;
        let random = repeats.iter().find_map(random).unwrap_or_default();
        let stops = (0..length).map(|i| reduced(&stops.iter().map(|stops| stops[i]).collect::<Vec<Stop>>()));
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

    /// Best value less that of random search with as many points.
    pub(crate) fn gain(&self, step: usize) -> Option<f64> {
        let random = self.random.get(step.min(self.stops.len() - 1))?;
        Some(self.stop(step).best - random)
    }

    /// The number by which searches are compared.
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

    /// The metric of a step with this measure.
    pub(crate) fn metric(self) -> &'static str {
        match self {
            Measure::Best => names::BEST,
            Measure::Chosen => names::BATCH_MEAN,
        }
    }
}

/// The design and the steps of a case.
fn stops(case: &CaseView<'_>) -> Option<Vec<Stop>> {
    let batch = case.case().task.thompson()?.targets.probes as f64;
    let mut stop = Stop { best: case.metric(names::BEST_START)?, ..Stop::default() };
    let mut stops = vec![stop];
    for step in case.steps() {
        stop.points += batch;
        for (sum, part) in stop.parts.iter_mut().zip(PARTS) {
            *sum += seconds(&step, part);
        }
        stop.entries += step.number(names::ENTRIES).unwrap_or(0.0);
        stop.best = step.number(names::BEST).unwrap_or(stop.best);
        stop.chosen = step.number(names::BATCH_MEAN);
        stops.push(stop);
    }
    Some(stops)
}

/// Seconds of a part of a step: 0 of a part that it does not have, not a number where its times are not shown.
fn seconds(step: &Cells<'_>, part: &[&str]) -> f64 {
    let is_timed = PARTS.iter().copied().flatten().any(|name| step.number(name).is_some());
    let sum: f64 = part.iter().filter_map(|name| step.number(name)).sum();
    if is_timed { sum } else { f64::NAN }
}

/// The best values of random search, that of the design first.
fn random(case: &CaseView<'_>) -> Option<Vec<f64>> {
    let later = &case.output().thompson()?.random_search;
    let start = case.metric(names::BEST_START).filter(|_| !later.is_empty())?;
    Some([start].into_iter().chain(later.iter().copied()).collect())
}

/// The same stop of several repeats, which differ in their seconds alone: the median of each part.
fn reduced(repeats: &[Stop]) -> Stop {
    let seconds = |part: usize| {
        let repeats: Vec<f64> = repeats.iter().map(|stop| stop.parts[part]).collect();
        median(&repeats).unwrap_or(f64::NAN)
    };
    Stop { parts: std::array::from_fn(seconds), ..repeats[0] }
}

/// The cases of a solver by seed.
pub(crate) fn by_seed<'f>(cases: impl Iterator<Item = CaseView<'f>>) -> BTreeMap<u64, Vec<CaseView<'f>>> {
    let mut of_seed: BTreeMap<u64, Vec<CaseView<'_>>> = BTreeMap::new();
    for case in cases {
        of_seed.entry(case.seed()).or_default().push(case);
    }
    of_seed
}
