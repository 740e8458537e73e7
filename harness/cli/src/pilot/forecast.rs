//! What a full case is expected to cost, from the trials of its contestant.

use gpbench_statistics::{Estimate, Interval, Polynomial, PowerLaw};

use super::course::{Course, Entrant, LEAST_POINTS, near_largest};
use super::measured::{Measured, WorkUnit};

/// Least standard deviations of logarithms of seconds and of units, and of memory relative to it: few trials
/// may lie on a curve by chance.
const NOISE_OF_SECONDS: f64 = 0.05;
const NOISE_OF_UNITS: f64 = 0.02;
const NOISE_OF_MEMORY: f64 = 0.02;

/// The remark on a case that evaluates kernel entries again and again which its trials found in memory.
const UNCACHED: &str =
    "its kernel entries do not fit the memory, as those of its trials did: epochs may take longer";

/// What a full case is expected to cost.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Forecast {
    /// Seconds, without regard to a limit on them. None where the trials tell nothing.
    pub(crate) seconds: Option<Estimate>,
    /// Exponent with which they grow.
    pub(crate) exponent: Option<f64>,
    /// Units of work. None where they are not known and the trials tell nothing.
    pub(crate) units: Option<Estimate>,
    /// Peak memory in bytes, without cached kernel entries.
    pub(crate) memory: Option<Estimate>,
    /// What has to be known of it.
    pub(crate) remarks: Vec<String>,
}

impl Forecast {
    /// The forecast for a contestant's full number of rows.
    pub(crate) fn of(entrant: &Entrant, course: &Course) -> Forecast {
        let (seconds, remark) = seconds(entrant, course);
        let memory = memory(entrant, course);
        let uncached = is_uncached(entrant, course, memory.as_ref()).then(|| UNCACHED.to_owned());
        let failed = course.failures.iter().max_by_key(|failed| failed.rows);
        let failed = failed.map(|failed| format!("failed with {} rows: {}", failed.rows, failed.reason));
        Forecast {
            seconds: seconds.as_ref().map(|(estimate, _)| *estimate),
            exponent: seconds.map(|(_, exponent)| exponent),
            units: units(entrant, course),
            memory,
            remarks: failed.into_iter().chain(remark).chain(uncached).collect(),
        }
    }
}

/// Seconds with the exponent of their growth, and a remark.
///
/// The seconds of known work are those of a unit times all units. Otherwise they are those of the trials that
/// ended by themselves; a bound on the units bounds them too.
fn seconds(entrant: &Entrant, course: &Course) -> (Option<(Estimate, f64)>, Option<String>) {
    let with_all_units = || of_all_units(entrant, course);
    if course.is_known(&entrant.work) {
        let found = with_all_units();
        let remark = found.is_none().then(|| too_few(course));
        return (found, remark);
    }
    let whole: Vec<Measured> = course.trials.iter().copied().filter(|trial| trial.is_whole).collect();
    match (as_they_ended(entrant, &whole), with_all_units()) {
        (Some(own), Some(bound)) if bound.0.mean < own.0.mean => {
            (Some((bounded(bound.0, own.0), bound.1)), Some("takes all that its budget allows".to_owned()))
        }
        (Some(own), bound) => {
            let estimate = bound.map_or(own.0, |bound| bounded(own.0, bound.0));
            (Some((estimate, own.1)), None)
        }
        (None, Some((bound, exponent))) if whole.len() < course.trials.len() => {
            // A part of the rows took that long.
            let low = course.trials.iter().map(Measured::total).fold(0.0, f64::max);
            let interval = bound.interval.map(|of| Interval { low: low.min(of.low), high: of.high });
            let remark = "at most: too few trials ended by themselves in their time".to_owned();
            (Some((Estimate { interval, ..bound }, exponent)), Some(remark))
        }
        (None, _) => (None, Some(too_few(course))),
    }
}

/// The seconds if all allowed units are spent.
fn of_all_units(entrant: &Entrant, course: &Course) -> Option<(Estimate, f64)> {
    let (allowed, near) = (entrant.work.allowed?, near_largest(&course.trials));
    let left = allowed - near.last()?.units_once;
    if is_iterative(entrant, near) && left > 0.0 {
        return by_epochs(entrant, near, |_| exactly(left, near.len()));
    }
    let of_all = |trial: &Measured| Some((trial.rows as f64, trial.with_units(allowed)?));
    by_power_law(entrant, &near.iter().filter_map(of_all).collect::<Vec<_>>())
}

/// The seconds until a case ends by itself, from trials that did.
fn as_they_ended(entrant: &Entrant, whole: &[Measured]) -> Option<(Estimate, f64)> {
    let near = near_largest(whole);
    if is_iterative(entrant, near) {
        let points: Vec<(f64, f64)> = near.iter().map(|trial| (trial.rows as f64, trial.units)).collect();
        let law = PowerLaw::fit(&points).filter(|law| law.count() >= LEAST_POINTS)?;
        return by_epochs(entrant, near, |rows| law.predict(rows, NOISE_OF_UNITS));
    }
    by_power_law(entrant, &near.iter().map(|trial| (trial.rows as f64, trial.total())).collect::<Vec<_>>())
}

/// Whether trials evaluate the kernel matrix more than once: what it takes to apply it then decides. Otherwise, the
/// operations on one copy of it do, such as n^3 of a factor.
fn is_iterative(entrant: &Entrant, trials: &[Measured]) -> bool {
    entrant.work.unit == WorkUnit::Epochs && trials.last().is_some_and(|top| top.all_units() > 1.0)
}

/// Seconds by the power law of these rows and seconds, with its exponent.
fn by_power_law(entrant: &Entrant, points: &[(f64, f64)]) -> Option<(Estimate, f64)> {
    let law = PowerLaw::fit(points).filter(|law| law.count() >= LEAST_POINTS)?;
    Some((law.predict(entrant.rows as f64, NOISE_OF_SECONDS), law.exponent()))
}

/// Seconds of a solver that spends `units` epochs with a number of rows, and the exponent of their growth from the
/// largest trial on.
///
/// An epoch takes a + b n + c n^2 seconds, in which n^2 shows late: with few rows, each iteration takes what does not
/// depend on them. A power law through such trials would be too flat. What is done once follows one.
fn by_epochs(
    entrant: &Entrant,
    trials: &[Measured],
    units: impl Fn(f64) -> Estimate,
) -> Option<(Estimate, f64)> {
    let seen = || trials.iter().filter(|trial| trial.units > 0.0);
    let epochs: Vec<(f64, f64)> =
        seen().map(|trial| (trial.rows as f64, trial.seconds / trial.units)).collect();
    let epoch = Polynomial::fit(&epochs).filter(|_| epochs.len() >= LEAST_POINTS)?;
    let once: Vec<(f64, f64)> = trials.iter().map(|trial| (trial.rows as f64, trial.once)).collect();
    let once = PowerLaw::fit(&once).filter(|law| law.count() >= LEAST_POINTS);
    let at = |rows: f64| {
        let solve = epoch.predict(rows, NOISE_OF_SECONDS).multiplicative().times(&units(rows));
        once.as_ref().map_or(solve, |law| solve.plus(&law.predict(rows, NOISE_OF_SECONDS)))
    };
    let (rows, top) = (entrant.rows as f64, trials.last()?.rows as f64);
    let (full, largest) = (at(rows), at(top));
    let exponent = (full.mean / largest.mean).ln() / (rows / top).ln();
    Some((full, if exponent.is_finite() { exponent } else { 2.0 }))
}

/// A number that is known, of so many trials.
fn exactly(value: f64, count: usize) -> Estimate {
    Estimate { mean: value, sd: None, interval: Some(Interval { low: value, high: value }), count }
}

/// The remark on a contestant whose trials are too few.
fn too_few(course: &Course) -> String {
    let whole = course.trials.iter().filter(|trial| trial.is_whole).count();
    match (course.count(), course.trials.len()) {
        (0, _) => "no trial: give the pilot more time".to_owned(),
        (_, 0) => "no trial succeeded".to_owned(),
        (_, trials) if whole == trials => format!("{trials} trials are too few: give the pilot more time"),
        (_, trials) => {
            format!(
                "{whole} of {trials} trials ended by themselves, which is too few: give the pilot more time"
            )
        }
    }
}

/// An estimate whose interval ends where that of another does, if that is lower.
fn bounded(estimate: Estimate, by: Estimate) -> Estimate {
    let lower =
        |own: Interval, by: Interval| Interval { low: own.low.min(by.low), high: own.high.min(by.high) };
    let interval = match (estimate.interval, by.interval) {
        (Some(own), Some(by)) => Some(lower(own, by)),
        (own, _) => own,
    };
    Estimate { interval, ..estimate }
}

/// Units of work, at most those allowed.
fn units(entrant: &Entrant, course: &Course) -> Option<Estimate> {
    let allowed = entrant.work.allowed.map(|units| exactly(units, course.trials.len()));
    if course.is_known(&entrant.work) {
        return allowed;
    }
    let whole: Vec<Measured> = course.trials.iter().copied().filter(|trial| trial.is_whole).collect();
    let points: Vec<(f64, f64)> =
        near_largest(&whole).iter().map(|trial| (trial.rows as f64, trial.all_units())).collect();
    let law = PowerLaw::fit(&points).filter(|law| law.count() >= LEAST_POINTS)?;
    let free = law.predict(entrant.rows as f64, NOISE_OF_UNITS);
    Some(match allowed {
        Some(allowed) => bounded(Estimate { mean: free.mean.min(allowed.mean), ..free }, allowed),
        None => free,
    })
}

/// Whether kernel entries of a full case, unlike those of its largest trial, do not fit the memory that it may use.
fn is_uncached(entrant: &Entrant, course: &Course, memory: Option<&Estimate>) -> bool {
    let (Some(top), Some(limit)) = (course.largest(), entrant.memory_limit) else { return false };
    let entries = top.cached * (entrant.rows as f64 / top.rows as f64).powi(2);
    entries > 0.0 && entries + memory.map_or(0.0, |of| of.mean) > limit
}

/// Peak memory without cached kernel entries.
fn memory(entrant: &Entrant, course: &Course) -> Option<Estimate> {
    let point = |trial: &Measured| Some((trial.rows as f64, trial.memory?));
    let points: Vec<(f64, f64)> = course.trials.iter().filter_map(point).collect();
    let fit = Polynomial::fit(&points).filter(|_| points.len() >= LEAST_POINTS)?;
    Some(fit.predict(entrant.rows as f64, NOISE_OF_MEMORY))
}

#[cfg(test)]
mod tests;
