//! The trials of one contestant, and how many rows its next trial has.
//!
//! Trials double their rows as long as the next one is expected to fit its time, then take half a doubling. Where no
//! larger one fits, sizes between are added until a fit has enough points near the largest.

use std::f64::consts::SQRT_2;

use super::measured::{Measured, Work, WorkUnit};

/// Rows of the first trial, unless it needs more.
const FIRST_ROWS: (usize, usize) = (32, 500);
/// The first trial has at most the data set's rows over this.
const FIRST_SHARE: usize = 16;
/// A size that comes so near to the full one is the full one.
const NEARLY_FULL: f64 = 1.2;
/// Sizes closer than this are the same.
const SAME_SIZE: f64 = 1.1;
/// Trials at the largest size over this, or larger, are near the largest.
const NEAR: f64 = 4.2;
/// Trials near the largest that suffice.
const ENOUGH: usize = 5;
/// Points that a fit needs.
pub(crate) const LEAST_POINTS: usize = 3;
/// Failures before the first success after which no larger size is tried.
const MOST_FAILURES: usize = 3;
/// Exponent of the growth of seconds before two trials show one, and its bounds.
const EXPONENT: f64 = 3.0;
const EXPONENTS: (f64, f64) = (1.0, 3.3);
/// Added to the exponent that two trials show, since it grows with the size.
const CAUTION: f64 = 0.3;
/// Trials of known work share the time of a trial of unknown work.
const SLICES: f64 = 5.0;
/// Units of known work that a trial has to show: the first ones may differ from the others.
const LEAST_UNITS: f64 = 3.0;
/// Factor by which a trial of so few units may exceed what is expected.
const SAFETY: f64 = 1.5;
/// Least limit of a trial in seconds.
const LEAST_LIMIT: f64 = 0.5;

/// What takes part in a pilot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entrant {
    /// Training rows of the full case.
    pub(crate) rows: usize,
    /// Rows below which a trial says nothing, or fails.
    pub(crate) fewest: usize,
    /// Its work.
    pub(crate) work: Work,
    /// Bytes that it may use, where they are limited.
    pub(crate) memory_limit: Option<f64>,
}

/// A trial that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FailedTrial {
    /// Training rows.
    pub(crate) rows: usize,
    /// Why.
    pub(crate) reason: String,
}

/// The trials of a contestant so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Course {
    /// Those that measured something, by number of rows.
    pub(crate) trials: Vec<Measured>,
    /// Those that failed, in their order.
    pub(crate) failures: Vec<FailedTrial>,
    /// Wall-clock seconds of all.
    pub(crate) spent: f64,
}

impl Course {
    /// Adds a trial that measured something.
    pub(crate) fn add(&mut self, trial: Measured) {
        self.spent += trial.wall;
        let place = self.trials.partition_point(|other| other.rows <= trial.rows);
        self.trials.insert(place, trial);
    }

    /// Adds a trial that failed after `wall` seconds.
    pub(crate) fn fail(&mut self, rows: usize, reason: String, wall: f64) {
        self.spent += wall;
        self.failures.push(FailedTrial { rows, reason });
    }

    /// Number of trials.
    pub(crate) fn count(&self) -> usize {
        self.trials.len() + self.failures.len()
    }

    /// The largest trial that measured something.
    pub(crate) fn largest(&self) -> Option<&Measured> {
        self.trials.last()
    }

    /// Whether the case does all of the work that it is allowed, however many rows it has.
    pub(crate) fn is_known(&self, work: &Work) -> bool {
        let Some(allowed) = work.allowed.filter(|_| !work.may_end) else { return false };
        self.trials.iter().all(|trial| !trial.is_whole || trial.all_units() >= 0.99 * allowed)
    }

    /// The rows of the next trial, if one is wanted that takes at most `allowance` seconds.
    pub(crate) fn next(&self, entrant: &Entrant, allowance: f64) -> Option<usize> {
        let Some(top) = self.largest() else { return self.first(entrant) };
        self.larger(entrant, top, allowance).or_else(|| self.between(entrant, top, allowance))
    }

    /// The seconds after which the next trial is to end, where one with so many rows may take `allowance`. The
    /// speed of known work shows in a part of it.
    pub(crate) fn limit(&self, entrant: &Entrant, rows: usize, allowance: f64) -> f64 {
        if !self.is_known(&entrant.work) {
            return allowance.max(LEAST_LIMIT);
        }
        let units = entrant.work.allowed.map_or(LEAST_UNITS, |allowed| LEAST_UNITS.min(allowed));
        let least = self.largest().map_or(0.0, |top| units * self.expected(entrant, top, rows));
        // Of few units, each may turn out to be slower than expected.
        (allowance / SLICES).max(SAFETY * least).max(LEAST_LIMIT)
    }

    /// The steps of the next trial, if its number of rows is `rows` and it may take `limit` seconds; none for a
    /// case that does not have a known number of steps. What a step does beside its solver has no limit of
    /// time.
    pub(crate) fn steps(&self, entrant: &Entrant, rows: usize, limit: f64) -> Option<u64> {
        let is_of_steps = entrant.work.unit == WorkUnit::Steps && self.is_known(&entrant.work);
        let allowed = entrant.work.allowed.filter(|_| is_of_steps)?;
        // A trial too short to be timed tells nothing.
        let steps = self.largest().map_or(LEAST_UNITS, |top| limit / self.expected(entrant, top, rows));
        // One more is done once.
        Some((1.0 + steps.floor().max(LEAST_UNITS)).min(allowed) as u64)
    }

    /// The rows of the first trial that may succeed: a solver may need more of them than expected.
    fn first(&self, entrant: &Entrant) -> Option<usize> {
        let (least, most) = FIRST_ROWS;
        match self.failures.last() {
            None => {
                let first = (entrant.rows / FIRST_SHARE).clamp(least, most);
                Some(first.max(entrant.fewest).min(entrant.rows))
            }
            Some(failed) if self.failures.len() < MOST_FAILURES && failed.rows < entrant.rows => {
                Some((4 * failed.rows).min(entrant.rows))
            }
            Some(_) => None,
        }
    }

    /// A larger size than that of the largest trial.
    fn larger(&self, entrant: &Entrant, top: &Measured, allowance: f64) -> Option<usize> {
        if self.failures.iter().any(|failed| failed.rows > top.rows) {
            return None;
        }
        let sizes = [2.0, SQRT_2].map(|factor| {
            let size = factor * top.rows as f64;
            if NEARLY_FULL * size >= entrant.rows as f64 { entrant.rows } else { size.round() as usize }
        });
        sizes.into_iter().find(|rows| *rows > top.rows && self.is_affordable(entrant, top, *rows, allowance))
    }

    /// Whether a larger trial is expected to end in time, or to show the speed of known work.
    fn is_affordable(&self, entrant: &Entrant, top: &Measured, rows: usize, allowance: f64) -> bool {
        let ratio = rows as f64 / top.rows as f64;
        let around = (top.wall - top.total()).max(0.0) * ratio;
        if self.is_known(&entrant.work) {
            let limit = self.limit(entrant, rows, allowance);
            around + ratio.powf(EXPONENT) * top.once + limit <= allowance && top.units > 0.0
        } else {
            top.is_whole && around + self.expected(entrant, top, rows) <= allowance
        }
    }

    /// The seconds that so many rows are expected to take, from those of the largest trial: of a unit of known
    /// work, or else of a whole case.
    fn expected(&self, entrant: &Entrant, top: &Measured, rows: usize) -> f64 {
        let is_known = self.is_known(&entrant.work);
        let cost = |trial: &Measured| if is_known { trial.seconds / trial.units } else { trial.total() };
        let ratio = rows as f64 / top.rows as f64;
        let exponent = match &self.trials[..] {
            [.., below, _] => {
                let growth = (cost(top) / cost(below)).ln() / (top.rows as f64 / below.rows as f64).ln();
                growth + CAUTION
            }
            _ => EXPONENT,
        };
        // Neither of trials of the same size nor of those too short to be timed.
        let exponent = if exponent.is_finite() { exponent.clamp(EXPONENTS.0, EXPONENTS.1) } else { EXPONENT };
        // Below the largest trial, costs are taken to shrink with the rows alone, which is cautious.
        cost(top) * if ratio < 1.0 { ratio } else { ratio.powf(exponent) }
    }

    /// A size below that of the largest trial, where more trials near it are wanted.
    fn between(&self, entrant: &Entrant, top: &Measured, allowance: f64) -> Option<usize> {
        if near_largest(&self.trials).len() >= ENOUGH || top.wall > allowance {
            return None;
        }
        let tried = || self.trials.iter().map(|trial| trial.rows).chain(self.failures.iter().map(|f| f.rows));
        let is_new =
            |rows: &usize| tried().all(|other| (other as f64 / *rows as f64).ln().abs() > SAME_SIZE.ln());
        let sizes = (1..ENOUGH as i32).map(|k| (top.rows as f64 / SQRT_2.powi(k)).round() as usize);
        sizes.filter(|rows| *rows >= entrant.fewest).find(is_new)
    }
}

/// The trials at the largest size of some, and at those near it: costs follow a power law there, and a steeper
/// one than at small sizes. `trials` are sorted by their rows; where few are near, the largest ones.
pub(crate) fn near_largest(trials: &[Measured]) -> &[Measured] {
    let Some(top) = trials.last() else { return trials };
    let first = trials.partition_point(|trial| NEAR * (trial.rows as f64) < top.rows as f64);
    &trials[first.min(trials.len().saturating_sub(LEAST_POINTS))..]
}
