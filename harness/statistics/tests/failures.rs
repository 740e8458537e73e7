//! Expected running time.

use gpbench_statistics::ert::{Ert, Run, expected_running_time, of_success, rate};

use crate::support::{at, example, list, number, same};

/// The expected running time of the example's runs at `places`.
fn of(places: &[usize]) -> Ert {
    let (seconds, reached) = (list("ert/seconds"), example("ert/reached"));
    let run = |at: &usize| Run { cost: Some(seconds[*at]), reached: reached[*at].as_bool().unwrap() };
    expected_running_time(&places.iter().map(run).collect::<Vec<_>>()).unwrap()
}

#[track_caller]
fn is(found: &Ert, name: &str) {
    let expected = example(&format!("ert/{name}"));
    same(found.ert, number(&expected["ert"]));
    assert_eq!(found.successes as f64, number(&expected["successes"]));
    assert_eq!(found.of as f64, number(&expected["of"]));
    assert_eq!(found.interval.is_none(), expected["low"].is_null());
    if let Some(interval) = found.interval {
        same(interval.low, number(&expected["low"]));
        same(interval.high, number(&expected["high"]));
    }
}

#[test]
fn failures_are_priced_in() {
    let found = of(&[0, 1, 2, 3, 4]);
    is(&found, "result");
    same(found.mean_of_successes.unwrap(), at("ert/result/mean_of_successes"));
    same(found.mean_of_failures.unwrap(), at("ert/result/mean_of_failures"));
    same(found.ert - found.mean_of_successes.unwrap(), at("ert/result/restart_part"));
    let cost = of_success(&[4.0, 5.5, 3.2]).unwrap();
    same(cost.low, at("ert/result/a_low"));
    same(cost.high, at("ert/result/a_high"));
    let rate = rate(3, 2);
    same(rate.low, at("ert/result/p_low"));
    same(rate.high, at("ert/result/p_high"));
    same(30.0 * (1.0 - rate.high) / rate.high, at("ert/result/o_low"));
    same(30.0 * (1.0 - rate.low) / rate.low, at("ert/result/o_high"));
    assert_eq!(found.failure_rate_below(), None);
}

#[test]
fn samples_without_failures_or_successes() {
    let all = of(&[0, 1, 3]);
    is(&all, "all_reached");
    assert!(example("ert/all_reached/given_no_failure").as_bool().unwrap());
    same(all.failure_rate_below().unwrap(), at("ert/all_reached/failure_rate_below"));
    is(&of(&[0, 2, 4]), "one_reached");
    let none = [12.0, 30.0, 30.0].map(|cost| Run { cost: Some(cost), reached: false });
    let none = expected_running_time(&none).unwrap();
    is(&none, "none_reached");
    same(none.spent, at("ert/none_reached/at_least"));
}
