//! Runs with times as a machine might give them.

use gpbench_record::CaseStatus;
use gpbench_report::Run;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Bernoulli, Distribution, LogNormal, Uniform};

use crate::support::run;

const SEEDS: u64 = 3;
const REPEATS: u32 = 5;

/// The run of `tests/data`, beside which no other program ran.
pub fn stored() -> Run {
    let mut run = run();
    run.record.environments[0].other_load = Some(0.0);
    run
}

/// Four solvers on two data sets, each case timed several times.
pub fn timed() -> Run {
    timed_as(SEEDS, REPEATS)
}

/// The same, with so many seeds and repeats.
pub fn timed_as(seeds: u64, repeats: u32) -> Run {
    let mut run = stored();
    let mut pattern = run.record.rows.iter().find(|row| row.status == CaseStatus::Ok).unwrap().clone();
    pattern.trace.clear();
    run.record.rows.clear();
    for (d, dataset) in ["pol", "bike"].iter().enumerate() {
        for (s, solver) in ["cholesky", "cg", "ap", "sgd"].iter().enumerate() {
            for (seed, repeat) in (0..seeds).flat_map(|seed| (0..repeats).map(move |repeat| (seed, repeat))) {
                let mut row = pattern.clone();
                row.id = format!("{d}{s}{seed}{repeat}");
                row.labels.dataset = (*dataset).to_owned();
                row.labels.solver = (*solver).to_owned();
                (row.labels.seed, row.labels.repeat) = (seed, repeat);
                // Hours for one, a fraction of a second for another; seeds differ a little.
                row.metrics.insert("seconds", 0.3 * 10f64.powi((d + s) as i32) * (1.0 + 0.05 * seed as f64));
                run.record.rows.push(row);
            }
        }
    }
    run
}

/// How steady a machine is.
#[derive(Clone, Copy)]
pub struct Machine {
    /// Spread of the logarithm of a time.
    noise: f64,
    /// Share of times that something else held up, by up to twice as long.
    stalls: f64,
}

/// A machine of its own.
pub const QUIET: Machine = Machine { noise: 0.05, stalls: 0.0 };
/// A machine beside others.
pub const SHARED: Machine = Machine { noise: 0.05, stalls: 0.1 };
/// A machine whose times say little.
pub const WILD: Machine = Machine { noise: 0.4, stalls: 0.1 };

/// The run as it might have been timed on such a machine.
pub fn once_more(run: &Run, machine: Machine, rng: &mut ChaCha8Rng) -> Run {
    let noise = LogNormal::new(0.0, machine.noise).unwrap();
    let (stalled, delay) =
        (Bernoulli::new(machine.stalls).unwrap(), Uniform::new_inclusive(1.0, 2.0).unwrap());
    let mut run = run.clone();
    for row in &mut run.record.rows {
        let held_up = if stalled.sample(rng) { delay.sample(rng) } else { 1.0 };
        let seconds = row.metrics.get("seconds").unwrap();
        row.metrics.insert("seconds", seconds * noise.sample(rng) * held_up);
    }
    run
}

/// Multiplies the times of a solver on a data set.
pub fn slow_down(run: &mut Run, dataset: &str, solver: &str, factor: f64) {
    for row in &mut run.record.rows {
        if row.labels.dataset == dataset && row.labels.solver == solver {
            let seconds = row.metrics.get("seconds").unwrap();
            row.metrics.insert("seconds", factor * seconds);
        }
    }
}
