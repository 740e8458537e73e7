//! Forecasts from trials whose costs follow formulas.

use super::*;
use crate::pilot::measured::{Work, WorkUnit};

/// Rows of the trials.
const SIZES: [usize; 5] = [1000, 1414, 2000, 2828, 4000];
/// Rows of the full case.
const ROWS: usize = 16_000;

fn work(allowed: Option<f64>, may_end: bool) -> Work {
    Work { unit: WorkUnit::Epochs, allowed, may_end }
}

/// A trial of `units` epochs at n^2 * 1e-9 s each, after 1e-12 n^3 s of preparation.
fn trial(rows: usize, units: f64, is_whole: bool) -> Measured {
    let n = rows as f64;
    Measured {
        rows,
        wall: 1.0,
        once: 1e-12 * n.powi(3),
        seconds: 1e-9 * n.powi(2) * units,
        units_once: 0.0,
        units,
        memory: Some(6e7 + 8.0 * n.powi(2)),
        cached: 0.0,
        is_whole,
    }
}

fn forecast(work: Work, trials: impl IntoIterator<Item = Measured>) -> Forecast {
    let mut course = Course::default();
    trials.into_iter().for_each(|trial| course.add(trial));
    Forecast::of(&Entrant { rows: ROWS, fewest: 8, work, memory_limit: None }, &course)
}

/// Epochs that grow with the square root of n.
fn growing(rows: usize) -> f64 {
    (rows as f64).sqrt()
}

#[track_caller]
fn within(estimate: Option<Estimate>, expected: f64, factor: f64) {
    let estimate = estimate.expect("an estimate");
    let ratio = estimate.mean / expected;
    assert!(ratio < factor && ratio > 1.0 / factor, "{} is not {expected}", estimate.mean);
    let interval = estimate.interval.expect("an interval");
    assert!(interval.contains(expected) && interval.contains(estimate.mean), "{estimate:?}, {expected}");
}

#[test]
fn known_work_is_extrapolated_from_parts_of_it() {
    // A tenth of 100 epochs is seen.
    let found = forecast(work(Some(100.0), false), SIZES.map(|rows| trial(rows, 10.0, false)));
    let n = ROWS as f64;
    within(found.seconds, 1e-12 * n.powi(3) + 1e-7 * n.powi(2), 1.15);
    let units = found.units.unwrap();
    assert_eq!((units.mean, units.interval), (100.0, Some(Interval { low: 100.0, high: 100.0 })));
    within(found.memory, 6e7 + 8.0 * n.powi(2), 1.001);
    assert!(found.exponent.unwrap() > 2.0 && found.remarks.is_empty(), "{found:?}");
}

#[test]
fn work_to_a_tolerance_grows_as_it_did() {
    let trials = SIZES.map(|rows| trial(rows, growing(rows), true));
    let found = forecast(work(Some(1e6), true), trials);
    let n = ROWS as f64;
    within(found.seconds, 1e-12 * n.powi(3) + 1e-9 * n.powf(2.5), 1.15);
    within(found.units, n.sqrt(), 1.001);
    assert!((found.exponent.unwrap() - 2.5).abs() < 0.05 && found.remarks.is_empty(), "{found:?}");
    // It is the same without a bound.
    assert_eq!(forecast(work(None, true), trials).seconds, found.seconds);
}

/// As on small parts of a large data set, where the exponent of trials is 1.5.
#[test]
fn what_each_iteration_takes_besides_its_entries_is_not_taken_for_slow_growth() {
    let trial = |rows: usize| {
        let n = rows as f64;
        Measured {
            seconds: (4e-6 * n + 1e-9 * n.powi(2)) * growing(rows),
            once: 0.0,
            ..trial(rows, growing(rows), true)
        }
    };
    let n = ROWS as f64;
    let epoch = 4e-6 * n + 1e-9 * n.powi(2);
    let found = forecast(work(None, true), SIZES.map(trial));
    within(found.seconds, epoch * n.sqrt(), 1.001);
    let found = forecast(work(Some(80.0), true), SIZES.map(trial));
    within(found.seconds, epoch * 80.0, 1.001);
}

#[test]
fn a_bound_on_the_work_bounds_the_forecast() {
    // 63 epochs at 4000 rows, and 126 at 16 000.
    let trials = SIZES.map(|rows| trial(rows, growing(rows), true));
    let found = forecast(work(Some(80.0), true), trials);
    let n = ROWS as f64;
    let bound = 1e-12 * n.powi(3) + 80e-9 * n.powi(2);
    within(found.seconds, bound, 1.15);
    assert_eq!(found.units.unwrap().mean, 80.0);
    assert_eq!(found.remarks, ["takes all that its budget allows"]);
}

#[test]
fn trials_that_did_not_reach_the_tolerance_are_no_forecast() {
    let cut = SIZES.map(|rows| trial(rows, 20.0, false));
    let found = forecast(work(None, true), cut);
    assert_eq!((found.seconds, found.units), (None, None));
    assert!(found.remarks[0].starts_with("0 of 5 trials ended by themselves"), "{:?}", found.remarks);
    // With a bound, it is at most that, and at least what was seen.
    let found = forecast(work(Some(1000.0), true), cut);
    let n = ROWS as f64;
    within(found.seconds, 1e-12 * n.powi(3) + 1e-6 * n.powi(2), 1.05);
    let low = found.seconds.unwrap().interval.unwrap().low;
    assert_eq!(low, cut[4].total());
    assert!(found.remarks[0].starts_with("at most"), "{:?}", found.remarks);
    // One that was cut at the end does not hide those before.
    let mut mixed = SIZES.map(|rows| trial(rows, growing(rows), true));
    mixed[4].is_whole = false;
    within(forecast(work(None, true), mixed).seconds, 1e-12 * n.powi(3) + 1e-9 * n.powf(2.5), 1.15);
}

#[test]
fn an_exact_solver_uses_the_same_fit_in_any_budget() {
    let exact = |rows| Measured { seconds: 0.0, ..trial(rows, 1.0, true) };
    for allowed in [None, Some(200.0)] {
        // It ends after one epoch, whatever it is allowed.
        let found = forecast(work(allowed, false), SIZES.map(exact));
        within(found.seconds, 1e-12 * (ROWS as f64).powi(3), 1.001);
        within(found.units, 1.0, 1.001);
    }
}

#[test]
fn entries_that_will_not_fit_the_cache_are_said() {
    let cached = |rows: usize| Measured { cached: 8.0 * (rows as f64).powi(2), ..trial(rows, 10.0, true) };
    let mut course = Course::default();
    SIZES.into_iter().for_each(|rows| course.add(cached(rows)));
    let entrant = |limit| Entrant { rows: ROWS, fewest: 8, work: work(None, true), memory_limit: limit };
    let remarks = |limit| Forecast::of(&entrant(limit), &course).remarks;
    // The full case and its entries take 2 GB each.
    assert_eq!(remarks(Some(3e9)), [UNCACHED]);
    assert!(remarks(Some(6e9)).is_empty() && remarks(None).is_empty());
}

#[test]
fn few_trials_and_failures_are_said() {
    let found = forecast(work(None, true), [trial(1000, 10.0, true), trial(2000, 20.0, true)]);
    assert_eq!((found.seconds, found.memory), (None, None));
    assert_eq!(found.remarks, ["2 trials are too few: give the pilot more time"]);
    assert_eq!(forecast(work(None, true), []).remarks, ["no trial: give the pilot more time"]);
    let mut course = Course::default();
    course.fail(500, "crashed: no room".to_owned(), 0.1);
    let entrant = Entrant { rows: ROWS, fewest: 8, work: work(None, true), memory_limit: None };
    let remarks = Forecast::of(&entrant, &course).remarks;
    assert_eq!(remarks, ["failed with 500 rows: crashed: no room", "no trial succeeded"]);
}
