//! Ratios, differences, and bold entries.

use std::collections::BTreeMap;

use gpbench_statistics::{
    Column, Estimate, Tolerance, bold, bracket, estimate, holm, median, over_such_datasets,
    over_these_datasets, paired_p, ratio, t_quantile, t_two_sided_p, timing_noise, widened,
};
use serde_json::Value;

use crate::support::{all_same, at, example, list, lists, number, numbers, same, same_share};

#[track_caller]
fn has_interval(estimate: &Estimate, low: f64, high: f64) {
    let interval = estimate.interval.expect("an interval");
    same(interval.low, low);
    same(interval.high, high);
}

#[test]
fn student() {
    for (df, expected) in example("t_quantiles_0.975").as_object().unwrap() {
        same(t_quantile(df.parse().unwrap()), number(expected));
    }
    for row in example("t_two_sided_p").as_array().unwrap() {
        same_share(t_two_sided_p(number(&row["t"]), number(&row["df"])), number(&row["p"]));
    }
}

/// Logarithms of ratios of medians of the first `seeds` seeds.
fn log_ratios(seeds: usize) -> Vec<f64> {
    let medians = |of: &str| lists(of).iter().map(|repeats| median(repeats).unwrap()).collect::<Vec<_>>();
    let (a, b) = (medians("paired_ratio/a"), medians("paired_ratio/b"));
    a.iter().zip(&b).map(|(a, b)| b.ln() - a.ln()).take(seeds).collect()
}

#[test]
fn paired_ratios() {
    for (name, seeds) in [("one_seed", 1), ("two_seeds", 2), ("three_seeds", 3), ("five_seeds", 5)] {
        let expected = example("paired_ratio").get(name).unwrap();
        let logs = log_ratios(seeds);
        all_same(&logs, &numbers(&expected["log_ratios"]));
        let of_logs = estimate(&logs, 0.0).unwrap();
        same(of_logs.mean, number(&expected["log_mean"]));
        assert_eq!(of_logs.count, seeds);
        let ratio = ratio(&logs).unwrap();
        same(ratio.mean, number(&expected["ratio"]));
        assert_eq!(ratio.printed().is_some(), seeds > 2);
        let Some(sd) = of_logs.sd else {
            assert!(seeds == 1 && expected["low"].is_null() && ratio.interval.is_none());
            continue;
        };
        same(sd, number(&expected["log_sd"]));
        same(t_quantile(seeds as f64 - 1.0), number(&expected["t"]));
        has_interval(&of_logs, number(&expected["log_low"]), number(&expected["log_high"]));
        has_interval(&ratio, number(&expected["low"]), number(&expected["high"]));
    }
}

#[test]
fn medians_of_repeats() {
    for (name, of) in [("medians_a", "paired_ratio/a"), ("medians_b", "paired_ratio/b")] {
        let medians: Vec<f64> = lists(of).iter().map(|repeats| median(repeats).unwrap()).collect();
        all_same(&medians, &list(&format!("paired_ratio/five_seeds/{name}")));
    }
}

#[test]
fn noise_of_timings() {
    same(timing_noise(&lists("paired_ratio/a")).unwrap(), at("paired_ratio/timing_noise_a"));
    same(timing_noise(&lists("paired_ratio/b")).unwrap(), at("paired_ratio/timing_noise_b"));
    assert_eq!(timing_noise(&[vec![1.0], vec![2.0]]), None);
}

#[test]
fn the_cost_spent_bounds_the_ratio_of_a_solver_that_ran_out_of_its_budget() {
    let failed = "paired_ratio/baseline_failed";
    let (x, b) = (list(&format!("{failed}/seconds_x")), list(&format!("{failed}/medians_b")));
    let logs: Vec<f64> = x.iter().zip(&b).map(|(x, b)| (x / b).ln()).collect();
    assert!(example(failed)["ratio"].is_null() && example(failed)["reached_x"][2] == Value::Bool(false));
    same(ratio(&logs).unwrap().mean, at(&format!("{failed}/bound_at_least")));
}

#[test]
fn ratios_over_data_sets() {
    let logs: Vec<Vec<f64>> =
        example("ratio_over_datasets/log_ratios").as_object().unwrap().values().map(numbers).collect();
    let means: Vec<f64> = logs.iter().map(|of| estimate(of, 0.0).unwrap().mean).collect();
    all_same(&means, &list("ratio_over_datasets/per_dataset"));
    let ends =
        |name: &str| ["ratio", "low", "high"].map(|end| at(&format!("ratio_over_datasets/{name}/{end}")));
    let [expected, low, high] = ends("these_datasets");
    let these = over_these_datasets(&logs).unwrap();
    same(these.mean, expected);
    has_interval(&these, low, high);
    // The half-width is t(df) standard errors.
    let half = at("ratio_over_datasets/these_datasets/t") * at("ratio_over_datasets/these_datasets/se");
    same((high / low).ln() / 2.0, half);
    same(t_quantile(at("ratio_over_datasets/these_datasets/df")), at("ratio_over_datasets/these_datasets/t"));
    let [expected, low, high] = ends("datasets_drawn");
    let such = over_such_datasets(&logs).unwrap();
    same(such.mean, expected);
    has_interval(&such, low, high);
    assert_eq!(such.count as f64, at("ratio_over_datasets/datasets_drawn/n"));
}

#[test]
fn paired_differences() {
    let (a, b) = (list("paired_difference/a"), list("paired_difference/b"));
    let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
    for (name, p, extra_variance) in [("plain", "p_plain", 0.0), ("split_by_seed", "p_split", 1.0 / 9.0)] {
        let expected = example("paired_difference").get(name).unwrap();
        let difference = estimate(&differences, extra_variance).unwrap();
        same(difference.mean, number(&expected["mean"]));
        same(difference.sd.unwrap(), number(&expected["sd"]));
        same(t_quantile(4.0), number(&expected["t"]));
        assert_eq!(difference.count as f64, number(&expected["n"]));
        has_interval(&difference, number(&expected["low"]), number(&expected["high"]));
        same_share(paired_p(&differences, extra_variance, 0.08), at(&format!("paired_difference/{p}")));
    }
}

#[test]
fn times_to_a_target_lie_between_evaluations() {
    let of = |name: &str| list(&format!("ratio_to_target/{name}"));
    let expected = |name: &str| at(&format!("ratio_to_target/{name}"));
    let (a, b) = (of("hit_a"), of("hit_b"));
    let logs: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (b / a).ln()).collect();
    let plain = ratio(&logs).unwrap();
    same(plain.mean, expected("ratio"));
    has_interval(&plain, expected("low_without"), expected("high_without"));
    let (of_a, of_b) = (bracket(&a, &of("before_a")), bracket(&b, &of("before_b")));
    same(of_a, expected("bracket_a"));
    same(of_b, expected("bracket_b"));
    let wide = widened(plain, of_a, of_b);
    same(wide.mean, plain.mean);
    has_interval(&wide, expected("low"), expected("high"));
}

#[test]
fn rounding_is_no_proof() {
    for row in example("floor").as_array().unwrap() {
        same_share(paired_p(&numbers(&row["d"]), 0.0, number(&row["scale"])), number(&row["p"]));
    }
    assert_eq!(paired_p(&[1.0], 0.0, 1.0), 1.0);
    assert_eq!(paired_p(&[f64::NAN, 1.0], 0.0, 1.0), 1.0);
}

#[test]
fn several_tests() {
    let found = holm(&list("holm/p"), at("holm/alpha"));
    all_same(&found.adjusted, &list("holm/adjusted"));
    assert_eq!(serde_json::json!(found.rejected), *example("holm/rejected"));
}

#[test]
fn bold_entries() {
    let metrics = ["test_rmse", "seconds"];
    let solvers = ["cholesky", "cg", "sgd", "ap"];
    let column = |metric: &&str| {
        let of = |key: &str| example(&format!("bold/{key}/{metric}"));
        let values =
            |solver: &&str| (0..).zip(numbers(&of("values")[solver])).collect::<BTreeMap<u64, f64>>();
        let smallest = numbers(of("smallest"));
        Column {
            values: solvers.iter().map(values).collect(),
            is_log: of("log").as_bool().unwrap(),
            lower_is_better: example("bold/lower_is_better").as_bool().unwrap(),
            smallest: Tolerance { absolute: smallest[0], relative: smallest[1] },
            extra_variance: number(of("extra_variance")),
        }
    };
    let columns: Vec<Column> = metrics.iter().map(column).collect();
    let marks = bold(&columns);
    for (metric, bold) in metrics.iter().zip(&marks.bold) {
        for (solver, bold) in solvers.iter().zip(bold) {
            assert_eq!(
                Value::Bool(*bold),
                example(&format!("bold/bold/{metric}"))[solver],
                "{metric} {solver}"
            );
        }
    }
    let expected = example("bold/pairs").as_array().unwrap();
    assert_eq!((marks.comparisons, marks.pairs.len()), (expected.len(), expected.len()));
    for (found, expected) in marks.pairs.iter().zip(expected) {
        assert_eq!(expected["metric"], metrics[found.column]);
        assert_eq!([&expected["i"], &expected["j"]], found.solvers.map(|at| solvers[at]));
        same(found.mean, number(&expected["mean"]));
        same_share(found.p, number(&expected["p"]));
        same_share(found.adjusted, number(&expected["holm_p"]));
        assert_eq!(Value::Bool(found.is_rejected), expected["rejected"]);
        let differences = differences(&columns[found.column], found.solvers);
        let difference = estimate(&differences, 0.0).unwrap();
        same(difference.sd.unwrap(), number(&expected["sd"]));
        let error = difference.sd.unwrap() * (0.2 + columns[found.column].extra_variance).sqrt();
        same(difference.mean / error, number(&expected["t"]));
    }
}

/// Differences of two solvers, of logarithms in a column of logarithms.
fn differences(column: &Column, solvers: [usize; 2]) -> Vec<f64> {
    let [first, second] = solvers.map(|at| column.values[at].values());
    first.zip(second).map(|(a, b)| if column.is_log { (a / b).ln() } else { a - b }).collect()
}
