//! Verification without the plugin: the objective is asked anew at the points that were acquired, the last systems are built
//! again, and a random search of the same objective is the control.

use gpbench_data::synthetic::{largest, random_search};
use gpbench_record::{FaultCause, Metrics, Verified, names};
use ndarray::{Axis, s};

use crate::evaluate;
use crate::failure::{CaseError, fault, file_fault, invalid};
use crate::rows::RowsError;

use super::posed::{SampleWeights, Tops};
use super::search::Search;
use super::solution::{self, Found};
use super::state::Known;

/// Samples whose choice is checked.
const SAMPLES: usize = 16;

/// The largest distance of a value that is computed twice, relative to the signal scale.
const ROUNDING: f64 = 1e-9;

/// Verifies a search.
pub(super) fn verify(search: &Search<'_>) -> Result<Verified, CaseError> {
    let path = &search.setup.job.solution_file;
    let found = solution::read(path).map_err(file_fault(FaultCause::Solution))?;
    let mut known = search.design()?;
    let best_start = largest(known.values.view());
    let (steps, batch) = (found.best.len(), search.batch());
    if steps == 0 || found.points.dim() != (steps * batch, search.objective.d) {
        let reason = format!("{}: it has not the points of {steps} steps", path.display());
        return Err(fault(FaultCause::Solution, reason));
    }
    let mut best = Vec::new();
    for (step, points) in found.points.axis_chunks_iter(Axis(0), batch).enumerate() {
        if step + 1 == steps {
            check_choice(search, &known, &found, step as u64)?;
        }
        search.acquire(&mut known, points)?;
        best.push(largest(known.values.view()));
        check_best(step, found.best[step], best[step], search.objective.signal_scale)?;
    }
    let mut metrics = last_step(search, &found)?;
    let (objective, seed) = (search.objective, search.setup.job.case.seed);
    let control = search
        .setup
        .pool
        .install(|| random_search(objective, seed, steps as u64, batch))
        .map_err(RowsError::from)?;
    let (last, random) = (best[steps - 1], control[steps]);
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
    Ok(Verified { metrics, curve: None, random_search: control[1..].to_vec() })
}

/// Compares the best value that a step reports with that of its points.
fn check_best(step: usize, reported: f64, found: f64, scale: f64) -> Result<(), CaseError> {
    if (reported - found).abs() <= ROUNDING * scale {
        return Ok(());
    }
    Err(invalid(format!("step {step} reports a best value of {reported}; its points have {found}")))
}

/// The residuals of the last step.
fn last_step(search: &Search<'_>, found: &Found) -> Result<Metrics, CaseError> {
    let steps = found.best.len();
    let mut known = search.design()?;
    for points in
        found.points.slice(s![..(steps - 1) * search.batch(), ..]).axis_chunks_iter(Axis(0), search.batch())
    {
        search.acquire(&mut known, points)?;
    }
    let system = search.pose(&known, steps as u64 - 1)?;
    Ok(evaluate::of_weights(&system, None, found.solution.view()))
}

/// Checks that the first samples of a step are at least as large at their points as at all candidates.
fn check_choice(search: &Search<'_>, known: &Known, found: &Found, step: u64) -> Result<(), CaseError> {
    let system = search.pose(known, step)?;
    let count = SAMPLES.min(search.batch());
    let weights = SampleWeights::new(&system, found.solution.view(), count)?;
    let samples = weights.samples(&system);
    let mut tops = Tops::new(system.d());
    for round in 0..search.task.candidates.rounds {
        tops.add(&samples, search.candidates(&system, step, round).view());
    }
    let chosen = found.chosen.slice(s![..count, ..]);
    let owner: Vec<usize> = (0..count).collect();
    let (values, _) = samples.value_and_gradient(chosen, &owner);
    for (place, top) in tops.values.iter().enumerate() {
        let sample = place % count;
        let scale = top.abs().max(search.objective.signal_scale);
        if values[sample] < top - ROUNDING * scale {
            let value = values[sample];
            let reason =
                format!("sample {sample} of step {step} is {value} at its point, and {top} at a candidate");
            return Err(invalid(reason));
        }
    }
    Ok(())
}
