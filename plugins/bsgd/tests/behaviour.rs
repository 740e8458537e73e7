//! Whole fits against the model's dense matrices.

use gpbench_plugin_bsgd::Bsgd;
use gpbench_sdk::{Covariance, Family, ParamValue};
use gpbench_testing::behaviour::{self, small_network};
use gpbench_testing::{DenseModel, FitHost};

const N: usize = 60;

/// A network with a linear kernel, one with a stationary kernel, and the inputs alone with either.
fn hosts() -> [FitHost; 4] {
    let host = || FitHost::wave(N).passes(6.0);
    [
        host().family(Covariance::Linear).network(small_network(0)).trained_mean(),
        host().network(small_network(40)).trained_mean(),
        host().family(Family::Matern32).shared_length_scale(),
        host().family(Covariance::Linear),
    ]
}

/// All rows in each batch: the steps are those of gradient descent on the likelihood.
fn exact(learning_rate: f64) -> [(&'static str, ParamValue); 2] {
    [("batch", ParamValue::Int(N as i64)), ("learning_rate", learning_rate.into())]
}

#[test]
fn predictions_are_those_of_the_model() {
    behaviour::predicts_as_its_model::<Bsgd>(&hosts(), &[("batch", 13.into())]);
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

#[test]
fn the_objective_falls_by_log_two_in_half_the_units() {
    behaviour::falls_by_log_two_in_half_the_units::<Bsgd>(N, &exact(0.0));
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
    behaviour::diverges_at_a_large_rate::<Bsgd>(&host.passes(2000.0));
}

#[test]
fn the_noise_stays_above_its_floor() {
    let host = FitHost::wave(N).passes(200.0);
    behaviour::stays_above_a_noise_floor_of_half::<Bsgd>(&host, &[("noise_floor", 0.5.into())]);
}
