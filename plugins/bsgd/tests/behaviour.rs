//! Whole fits on the host in memory, against the model's dense matrices.

#![allow(clippy::unwrap_used, reason = "helpers of tests, which fail by panicking")]

use gpbench_plugin_bsgd::Bsgd;
use gpbench_sdk::abi::reason;
use gpbench_sdk::ndarray::Array2;
use gpbench_sdk::testing::{DenseModel, FitHost, scattered};
use gpbench_sdk::{Activation, Family, Network, Scales, Value};

const N: usize = 60;

/// A network with a linear kernel, one with a stationary kernel, and the inputs alone with either.
fn hosts() -> [FitHost; 4] {
    let network = |random| Network { activation: Activation::Relu, widths: vec![12, 10], random };
    let host = || FitHost::wave(N).passes(6.0);
    [
        host().family(Family::Linear).network(network(0)).trained_mean(),
        host().network(network(40)).trained_mean(),
        host().family(Family::Matern32).shared_length_scale(),
        host().family(Family::Linear),
    ]
}

/// All rows in each batch: the steps are those of gradient descent on the likelihood.
fn exact(learning_rate: f64) -> [(&'static str, Value<'static>); 2] {
    [("batch", Value::Int(N as i64)), ("learning_rate", learning_rate.into())]
}

#[test]
fn predictions_are_those_of_the_model() {
    let x = Array2::from_shape_fn((9, 2), |(i, j)| scattered(i + 300, j));
    for host in hosts() {
        let mut run = host.begin::<Bsgd>(&[("batch", 13.into())]).unwrap();
        run.fit().unwrap();
        let (mean, variance) = run.predict(&x).unwrap();
        let (dense_mean, dense_variance) = DenseModel::new(&host, run.model().unwrap()).predict(&x);
        assert!((mean - dense_mean).iter().all(|gap| gap.abs() < 1e-8));
        assert!((variance / dense_variance).iter().all(|ratio| (ratio - 1.0).abs() < 1e-8));
    }
}

#[test]
fn with_all_rows_the_objective_is_the_likelihood_and_a_step_at_rate_zero_keeps_it() {
    for host in hosts() {
        let mut run = host.begin::<Bsgd>(&exact(0.0)).unwrap();
        let before = run.model().unwrap();
        run.fit().unwrap();
        assert_eq!(run.model().unwrap(), before);
        let expected = DenseModel::new(&host, before).nlml();
        assert_eq!(run.trace().len(), 6);
        for (_, objective) in run.trace() {
            assert!((objective / expected - 1.0).abs() < 1e-10, "{objective} and {expected}");
        }
    }
}

#[test]
fn descent_lowers_the_likelihood() {
    for host in hosts() {
        let host = host.passes(400.0);
        let mut run = host.begin::<Bsgd>(&exact(1.0)).unwrap();
        let before = DenseModel::new(&host, run.model().unwrap());
        run.fit().unwrap();
        let after = DenseModel::new(&host, run.model().unwrap());
        println!("nlml {} to {}, error {}", before.nlml(), after.nlml(), after.training_error());
        assert!(after.nlml() < before.nlml() - 0.05);
    }
}

/// Targets, signal scale and noise scale divided by 2: the same w, and log 2 less.
#[test]
fn the_objective_falls_by_log_two_in_half_the_units() {
    let objective = |unit: f64| {
        let given = FitHost::wave(N);
        let scales = Scales {
            signal_scale: 1.3 / unit,
            noise_scale: 0.4 / unit,
            length_scale: vec![0.8; 2],
            mean: 0.0,
        };
        let host = FitHost::new(given.x(), &(given.y() / unit)).scales(scales);
        let mut run = host.begin::<Bsgd>(&exact(0.0)).unwrap();
        run.fit().unwrap();
        run.trace()[0].1
    };
    assert!((objective(1.0) - objective(2.0) - 2_f64.ln()).abs() < 1e-12);
}

#[test]
fn every_pass_notes_its_dead_features_and_counts_its_rows() {
    let [host, ..] = hosts();
    let mut run = host.begin::<Bsgd>(&[("batch", 13.into())]).unwrap();
    run.fit().unwrap();
    // Five batches a pass, the last one short.
    let steps: Vec<i64> = run.notes().iter().map(|(step, ..)| *step).collect();
    assert_eq!(steps, [5, 10, 15, 20, 25, 30]);
    assert!(
        run.notes().iter().all(|(_, name, value)| name == "dead_features" && (0.0..=10.0).contains(value))
    );
    let used = run.used();
    let entries = 6 * (4 * 13 * 13 + 8 * 8);
    assert_eq!((used.features as usize, used.entries as usize), (6 * N, entries));
    // A kernel on the inputs takes no rows through features.
    let [_, _, host, _] = hosts();
    let mut run = host.begin::<Bsgd>(&[("batch", 13.into())]).unwrap();
    run.fit().unwrap();
    assert_eq!((run.used().features as usize, run.used().entries as usize), (0, entries));
}

#[test]
fn a_rate_too_large_diverges() {
    let [host, ..] = hosts();
    let host = host.passes(2000.0);
    let mut run = host.begin::<Bsgd>(&[("learning_rate", 1e6.into())]).unwrap();
    let report = run.fit().unwrap();
    assert_eq!(report.reason, reason::DIVERGED);
    assert!(run.trace().iter().all(|(_, objective)| objective.is_finite()));
}

#[test]
fn the_noise_stays_above_its_floor() {
    let host = FitHost::wave(N).passes(200.0);
    let run = host.begin::<Bsgd>(&[("noise_floor", 0.5.into())]);
    let mut run = run.unwrap();
    let noise =
        |run: &gpbench_sdk::testing::FitRun<'_>| run.model().unwrap().array("noise_scale").unwrap()[[0, 0]];
    assert!((noise(&run).powi(2) - 0.5).abs() < 1e-12);
    run.fit().unwrap();
    assert!(noise(&run).powi(2) >= 0.5 - 1e-12);
}
