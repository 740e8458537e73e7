//! Verification without the plugin: the objective is evaluated again at the acquired points, the last systems are
//! built again, and a random search of the same objective is the control.

use gpbench_data::synthetic::{largest, random_search};
use gpbench_record::{FaultCause, Metrics, SolutionOutput, Verified, names};
use ndarray::{Axis, s};

use crate::evaluate;
use crate::failure::{CaseError, fault, file_fault, invalid};
use crate::rows::RowsError;
use crate::system::System;

use super::posed::{SampleWeights, Tops};
use super::search::Search;
use super::solution::{self, Found};

/// Number of samples whose chosen points are checked.
const SAMPLES: usize = 16;

/// The largest difference between two computations of a value, relative to the signal scale.
const ROUNDING: f64 = 1e-9;

/// Verifies a search.
pub(super) fn verify(search: &Search<'_>) -> Result<Verified, CaseError> {
    let path = &search.setup.job.solution_file;
    let found = solution::read(path).map_err(file_fault(FaultCause::Solution))?;
    let mut known = search.design()?;
    let (steps, batch) = (found.best.len(), search.batch());
    if steps == 0 || found.points.dim() != (steps * batch, search.objective.d) {
        let reason = format!("{}: it has not the points of {steps} steps", path.display());
        return Err(fault(FaultCause::Solution, reason));
    }
    let best_start = largest(known.values.view());
    let objective = known.objective().clone();
    let control = search.setup.pool.install(|| random_search(objective, best_start, steps as u64, batch));
    let random_search = control.map_err(RowsError::from)?;
    let mut metrics = Metrics::default();
    let mut best = Vec::new();
    for (step, points) in found.points.axis_chunks_iter(Axis(0), batch).enumerate() {
        if step + 1 == steps {
            let system = search.pose(&known, step as u64)?;
            check_choice(search, &system, &found, step as u64)?;
            metrics = evaluate::of_weights(&system, None, found.solution.view());
        }
        search.acquire(&mut known, points)?;
        best.push(largest(known.values.view()));
        check_best(step, found.best[step], best[step], search.objective.signal_scale)?;
    }
    let (last, random) = (best[steps - 1], random_search[steps - 1]);
    for (name, value) in [
        (names::BEST, last),
        (names::BEST_START, best_start),
        (names::BEST_OBSERVED, largest(known.observed.view())),
        (names::BEST_RANDOM, random),
        (names::GAIN, last - random),
        (names::AREA, best.iter().sum::<f64>() / steps as f64),
    ] {
        metrics.insert(name, value);
    }
    let points = found.points.iter().copied().collect();
    let output = SolutionOutput { points, best, ..SolutionOutput::default() };
    Ok(Verified { metrics, random_search, output, ..Verified::default() })
}

/// Compares the best value that a step reports with that of its points.
fn check_best(step: usize, reported: f64, found: f64, scale: f64) -> Result<(), CaseError> {
    if (reported - found).abs() <= ROUNDING * scale {
        return Ok(());
    }
    Err(invalid(format!("step {step} reports a best value of {reported}; its points have {found}")))
}

/// Checks that the first samples of a step are at least as large at their points as at all candidates.
fn check_choice(search: &Search<'_>, system: &System, found: &Found, step: u64) -> Result<(), CaseError> {
    let count = SAMPLES.min(search.batch());
    let weights = SampleWeights::new(system, found.solution.view(), count)?;
    let samples = weights.samples(system);
    let mut tops = Tops::new(system.d());
    for round in 0..search.task.candidates.rounds {
        tops.add(&samples, search.candidates(system, step, round).view());
    }
    let chosen = found.chosen.slice(s![..count, ..]);
    let (values, _) = samples.value_and_gradient(chosen, &(0..count).collect::<Vec<_>>());
    let (of_tops, _) = samples.value_and_gradient(tops.x.view(), &tops.owner);
    for (&sample, top) in tops.owner.iter().zip(of_tops) {
        let value = values[sample];
        let rounding = ROUNDING * top.abs().max(search.objective.signal_scale);
        if value < top - rounding - weights.rounding(system, sample) {
            let reason =
                format!("sample {sample} of step {step} is {value} at its point, and {top} at a candidate");
            return Err(invalid(reason));
        }
    }
    Ok(())
}
