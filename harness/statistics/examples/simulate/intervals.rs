//! Intervals of samples of which the truth is known.

use gpbench_statistics::ert::{Run, expected_running_time};
use gpbench_statistics::ranking::ranking;
use gpbench_statistics::{
    Estimate, Interval, bracket, estimate, geometric_estimate, over_such_datasets, over_these_datasets,
    ratio, widened,
};

use crate::random::Random;

/// An interval whose coverage is known.
pub struct Rule {
    /// Name.
    pub name: &'static str,
    /// Coverage that the interval must lie within.
    pub between: (f64, f64),
    /// Draws a sample, and returns its interval and the truth.
    pub draw: fn(&mut Random) -> (Option<Interval>, f64),
}

/// Share of samples whose interval contains the truth; one without an interval does not.
pub fn coverage(rule: &Rule, samples: usize, random: &mut Random) -> f64 {
    let is_covered = |random: &mut Random| {
        let (interval, truth) = (rule.draw)(random);
        interval.is_some_and(|interval| interval.contains(truth))
    };
    (0..samples).filter(|_| is_covered(random)).count() as f64 / samples as f64
}

/// The intervals of reports.
pub const RULES: [Rule; 13] = [
    Rule { name: "ratio, 3 seeds", between: (0.935, 0.965), draw: |random| of_ratio(3, random, normal) },
    Rule { name: "ratio, 5 seeds", between: (0.935, 0.965), draw: |random| of_ratio(5, random, normal) },
    Rule { name: "ratio, 10 seeds", between: (0.935, 0.965), draw: |random| of_ratio(10, random, normal) },
    Rule {
        name: "ratio, 5 seeds, skewed effects",
        between: (0.87, 0.93),
        draw: |random| of_ratio(5, random, skewed),
    },
    Rule {
        name: "ratio, 5 seeds, slowed timings",
        between: (0.93, 0.97),
        draw: |random| of_ratio(5, random, slowed),
    },
    Rule { name: "ratio of times to a target, 5 seeds", between: (0.99, 1.0), draw: of_target },
    Rule {
        name: "ratio on these data sets, 3 x 5",
        between: (0.935, 0.975),
        draw: |random| of_datasets(random, over_these_datasets),
    },
    Rule { name: "ratio on such data sets, 3 x 5", between: (0.925, 0.965), draw: of_such },
    Rule { name: "difference on overlapping splits, 10 seeds", between: (0.92, 0.98), draw: of_splits },
    Rule { name: "expected running time, 5 seeds, half fail", between: (0.93, 1.0), draw: of_running_time },
    Rule {
        name: "mean rank of 5 solvers, 5 data sets",
        between: (0.9, 0.98),
        draw: |random| of_ranking(random).0,
    },
    Rule {
        name: "ratio to a reference, 5 data sets",
        between: (0.935, 0.975),
        draw: |random| of_ranking(random).1,
    },
    Rule { name: "geometric mean, 5 seeds", between: (0.935, 0.965), draw: of_mean },
];

/// Logarithm of the ratio of a seed, without an effect on average.
fn normal(random: &mut Random) -> f64 {
    let median_of_three = |random: &mut Random| {
        let mut times = [0; 3].map(|_| 0.05 * random.normal());
        times.sort_by(f64::total_cmp);
        times[1]
    };
    0.1 * random.normal() + median_of_three(random) - median_of_three(random)
}

/// The same with a skewed effect of the seed and little noise.
fn skewed(random: &mut Random) -> f64 {
    0.2 * (random.exponential() - 1.0) + 0.01 * random.normal()
}

/// The same with outliers among the timings.
fn slowed(random: &mut Random) -> f64 {
    let median_of_three = |random: &mut Random| {
        let mut times = [0; 3].map(|_| random.timing().ln());
        times.sort_by(f64::total_cmp);
        times[1]
    };
    0.1 * random.normal() + median_of_three(random) - median_of_three(random)
}

/// A ratio over seeds; the truth is 1.
fn of_ratio(seeds: usize, random: &mut Random, log_ratio: fn(&mut Random) -> f64) -> (Option<Interval>, f64) {
    let logs: Vec<f64> = (0..seeds).map(|_| log_ratio(random)).collect();
    (ratio(&logs).and_then(|ratio| ratio.interval), 1.0)
}

/// The geometric mean of five times; the truth is 3.
fn of_mean(random: &mut Random) -> (Option<Interval>, f64) {
    let times: Vec<f64> = (0..5).map(|_| 3.0 * (0.2 * random.normal()).exp()).collect();
    (geometric_estimate(&times).and_then(|mean| mean.interval), 3.0)
}

/// Times with a seed effect of 2 %, known to ten evaluations in a decade. The true ratio is 2.5.
fn of_target(random: &mut Random) -> (Option<Interval>, f64) {
    let grid = |time: f64| {
        let at = (10.0 * time.log10()).ceil();
        (10.0_f64.powf(at / 10.0), 10.0_f64.powf((at - 1.0) / 10.0))
    };
    let offset = random.normal();
    let times = |middle: f64, random: &mut Random| -> (Vec<f64>, Vec<f64>) {
        (0..5).map(|_| grid(middle * (offset + 0.02 * random.normal()).exp())).unzip()
    };
    let (a, before_a) = times(1.0, random);
    let (b, before_b) = times(2.5, random);
    let logs: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (b / a).ln()).collect();
    let ratio = ratio(&logs).map(|plain| widened(plain, bracket(&a, &before_a), bracket(&b, &before_b)));
    (ratio.and_then(|ratio| ratio.interval), 2.5)
}

/// Three data sets of given ratios and five seeds; the truth is their mean.
fn of_datasets(random: &mut Random, over: fn(&[Vec<f64>]) -> Option<Estimate>) -> (Option<Interval>, f64) {
    let ratios = [1.0, 0.6, 1.4];
    let logs = ratios.map(|middle| (0..5).map(|_| middle + 0.1 * random.normal()).collect::<Vec<f64>>());
    (over(&logs).and_then(|ratio| ratio.interval), 1.0_f64.exp())
}

/// Three data sets drawn from many, whose mean log ratio is 1.
fn of_such(random: &mut Random) -> (Option<Interval>, f64) {
    let logs = [0; 3].map(|_| {
        let middle = 1.0 + 0.4 * random.normal();
        (0..5).map(|_| middle + 0.1 * random.normal()).collect::<Vec<f64>>()
    });
    (over_such_datasets(&logs).and_then(|ratio| ratio.interval), 1.0_f64.exp())
}

/// Differences of two constant predictions, of test targets drawn as a tenth of 300 rows each time.
fn of_splits(random: &mut Random) -> (Option<Interval>, f64) {
    let rows: Vec<f64> = (0..300).map(|_| random.normal()).collect();
    let mean_of_test = |random: &mut Random| {
        let mut order: Vec<(f64, f64)> = rows.iter().map(|row| (random.normal(), *row)).collect();
        order.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        order[..30].iter().map(|(_, row)| row).sum::<f64>() / 30.0
    };
    let differences: Vec<f64> = (0..10).map(|_| mean_of_test(random)).collect();
    (estimate(&differences, 1.0 / 9.0).and_then(|difference| difference.interval), 0.0)
}

/// Five runs of which half fail, at ten times the cost of a success.
fn of_running_time(random: &mut Random) -> (Option<Interval>, f64) {
    // Without two successes there is no interval, and nothing is claimed.
    loop {
        let run = |random: &mut Random| {
            let reached = random.happens(0.5);
            let cost = if reached { (0.3 * random.normal() - 0.045).exp() } else { 10.0 };
            Run { cost: Some(cost), reached }
        };
        let runs: Vec<Run> = (0..5).map(|_| run(random)).collect();
        let ert = expected_running_time(&runs).expect("costs are known");
        if ert.interval.is_some() && ert.failure_rate_below().is_none() {
            return (ert.interval, 11.0);
        }
    }
}

/// The mean rank of the first of five equal solvers on five data sets, of which the truth is 3, and its ratio to the
/// second, of which it is 1.
fn of_ranking(random: &mut Random) -> ((Option<Interval>, f64), (Option<Interval>, f64)) {
    let cost = |random: &mut Random| Some((0.5 * random.normal()).exp());
    let costs: Vec<Vec<Option<f64>>> = (0..5).map(|_| (0..5).map(|_| cost(random)).collect()).collect();
    let first = ranking(&costs, Some(1)).expect("data sets").solvers[0];
    ((first.mean_rank.interval, 3.0), (first.over_reference.and_then(|ratio| ratio.interval), 1.0))
}
