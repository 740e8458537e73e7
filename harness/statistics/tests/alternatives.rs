//! Methods that reports do not use, for the worked examples that compare with them.

use std::collections::BTreeMap;

use gpbench_statistics::{median, ratio, sample_variance, t_quantile};
use serde_json::Value;

use crate::ranking::{SOLVERS, of_example};
use crate::support::{at, example, list, lists, number, same};

/// All bootstrap samples of `size` values, as numbers of times that each is drawn, with their probabilities.
fn resamples(size: usize) -> Vec<(Vec<usize>, f64)> {
    let mut all = vec![(Vec::new(), 1.0, 0)];
    for place in 0..size {
        let last = place + 1 == size;
        let more = |(counts, ways, drawn): (Vec<usize>, f64, usize)| {
            let least = if last { size - drawn } else { 0 };
            (least..=size - drawn)
                .map(move |count| {
                    // Ways to place the draws of this value among those that are left.
                    let chosen: f64 =
                        (0..count).map(|k| (size - drawn - k) as f64 / (k + 1) as f64).product();
                    ([counts.as_slice(), &[count]].concat(), ways * chosen, drawn + count)
                })
                .collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(more).collect();
    }
    let total = (size as f64).powi(size as i32);
    all.into_iter().map(|(counts, ways, _)| (counts, ways / total)).collect()
}

/// The smallest value whose cumulative weight reaches `q`.
fn quantile(values: &[(f64, f64)], q: f64) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mut sum = 0.0;
    let reaches = |&&(_, weight): &&(f64, f64)| {
        sum += weight;
        sum >= q - 1e-12
    };
    values.iter().find(reaches).expect("a value").0
}

#[test]
fn exact_bootstrap_of_the_expected_running_time() {
    let (seconds, reached) = (list("ert/seconds"), example("ert/reached"));
    let ert = |counts: &[usize]| {
        let sum = |of: &dyn Fn(usize) -> f64| (0..5).map(|i| counts[i] as f64 * of(i)).sum::<f64>();
        sum(&|i| seconds[i]) / sum(&|i| f64::from(u8::from(reached[i] == Value::Bool(true))))
    };
    let values: Vec<(f64, f64)> =
        resamples(5).iter().map(|(counts, weight)| (ert(counts), *weight)).collect();
    assert_eq!(values.len() as f64, at("ert/bootstrap_exact/multisets"));
    let without = values.iter().filter(|(ert, _)| ert.is_infinite()).map(|(_, weight)| weight).sum();
    same(without, at("ert/bootstrap_exact/no_success_weight"));
    for (name, q) in [("quantile_0025", 0.025), ("median", 0.5), ("quantile_0975", 0.975)] {
        same(quantile(&values, q), at(&format!("ert/bootstrap_exact/{name}")));
    }
    assert_eq!(resamples(10).len(), 92_378);
}

#[test]
fn exact_bootstrap_of_ranks() {
    let ranks = of_example().ranks;
    let mean = |counts: &[usize], solver: usize| {
        counts.iter().zip(&ranks).map(|(count, ranks)| *count as f64 * ranks[solver]).sum::<f64>() / 5.0
    };
    let mut first: BTreeMap<&str, f64> = BTreeMap::new();
    for (counts, weight) in resamples(5) {
        let means: Vec<f64> = (0..4).map(|solver| mean(&counts, solver)).collect();
        let least = means.iter().copied().fold(f64::INFINITY, f64::min);
        let best: Vec<usize> = (0..4).filter(|solver| means[*solver] < least + 1e-12).collect();
        for solver in &best {
            *first.entry(SOLVERS[*solver]).or_default() += weight / best.len() as f64;
        }
    }
    for (at, solver) in SOLVERS.iter().enumerate() {
        let values: Vec<(f64, f64)> =
            resamples(5).iter().map(|(counts, weight)| (mean(counts, at), *weight)).collect();
        let expected = example(&format!("ranking/result/{solver}"));
        same(quantile(&values, 0.025), number(&expected["bootstrap_rank_low"]));
        same(quantile(&values, 0.975), number(&expected["bootstrap_rank_high"]));
        let share = first.get(solver).copied().unwrap_or(0.0);
        same(share, number(&example("ranking/share_of_bootstrap_first")[solver]));
    }
}

#[test]
fn ratios_of_means_and_sign_flips() {
    let medians = |of: &str| lists(of).iter().map(|repeats| median(repeats).unwrap()).collect::<Vec<f64>>();
    let (a, b) = (medians("paired_ratio/a"), medians("paired_ratio/b"));
    let ratio_of_means = b.iter().sum::<f64>() / a.iter().sum::<f64>();
    same(ratio_of_means, at("paired_ratio/ratio_of_arithmetic_means"));
    let logs: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (b / a).ln()).collect();
    assert!(ratio(&logs).unwrap().mean != ratio_of_means);
    let sum = |signs: usize| {
        logs.iter().enumerate().map(|(i, d)| if (signs >> i) & 1 == 1 { -d } else { *d }).sum::<f64>().abs()
    };
    let extreme = (0..32).filter(|signs| sum(*signs) >= sum(0) - 1e-12).count();
    same(extreme as f64 / 32.0, at("paired_ratio/sign_flip_p"));
}

#[test]
fn unpaired_differences() {
    let (a, b) = (list("paired_difference/a"), list("paired_difference/b"));
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let [va, vb] = [&a, &b].map(|of| sample_variance(of).unwrap() / of.len() as f64);
    let df = (va + vb).powi(2) / (va * va / 4.0 + vb * vb / 4.0);
    let half = t_quantile(df) * (va + vb).sqrt();
    same(mean(&a) - mean(&b) - half, at("paired_difference/unpaired_welch/low"));
    same(mean(&a) - mean(&b) + half, at("paired_difference/unpaired_welch/high"));
}

/// Variance of the median of an odd number of standard normal values, by the trapezoidal rule.
fn variance_of_median(count: i32) -> f64 {
    let half = count / 2;
    // count! / (half!)^2
    let ways: f64 =
        (1..=half).map(|k| f64::from(half + k) / f64::from(k)).product::<f64>() * f64::from(count);
    let density = |x: f64| {
        let p = gpbench_statistics::normal_cdf(x);
        ways * (p * (1.0 - p)).powi(half) * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
    };
    let step = 0.01;
    (-900..=900).map(|k| f64::from(k) * step).map(|x| x * x * density(x) * step).sum()
}

/// The width of intervals at seed effects tau and noise sigma of the logarithms.
#[test]
fn planning() {
    for (repeats, factor) in example("planning/median_variance_factor").as_object().unwrap() {
        same(variance_of_median(repeats.parse().unwrap()), number(factor));
    }
    for row in example("planning/half_width_factor").as_array().unwrap() {
        let of = |key: &str| number(&row[key]);
        let variance =
            of("tau").powi(2) + 2.0 * of("sigma").powi(2) * variance_of_median(of("repeats") as i32);
        same((t_quantile(of("seeds") - 1.0) * (variance / of("seeds")).sqrt()).exp(), of("factor"));
    }
}
