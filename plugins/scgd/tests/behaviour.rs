//! Whole fits against the model's dense matrices.

use gpbench_plugin_scgd::Scgd;
use gpbench_sdk::{Covariance, Family, ParamValue};
use gpbench_testing::behaviour::{self, small_network};
use gpbench_testing::{DenseModel, FitHost};

const N: usize = 60;

/// A network with a linear kernel, one with random features, and the inputs alone.
fn hosts() -> [FitHost; 3] {
    let host = || FitHost::wave(N).passes(6.0);
    [
        host().family(Covariance::Linear).network(small_network(0)),
        host().network(small_network(40)).trained_mean(),
        host(),
    ]
}

/// All rows in each batch, and all weight on it: the steps are those of gradient descent on the likelihood.
fn exact(learning_rate: f64) -> [(&'static str, ParamValue); 4] {
    [
        ("batch", ParamValue::Int(N as i64)),
        ("average", 1.0.into()),
        ("features", 40.into()),
        ("learning_rate", learning_rate.into()),
    ]
}

#[test]
fn predictions_are_those_of_the_model() {
    behaviour::predicts_as_its_model::<Scgd>(&hosts(), &[("batch", 13.into()), ("features", 40.into())]);
}

/// With w = 0, l + n log 2 pi is |y|^2 / s^2 + log|H| + n log 2 pi: the likelihood but for its quadratic form.
#[test]
fn the_objective_is_an_upper_bound_that_a_step_at_rate_zero_keeps() {
    for host in hosts() {
        let mut run = host.begin::<Scgd>(&exact(0.0)).unwrap();
        let before = run.model().unwrap();
        run.fit().unwrap();
        assert_eq!(run.model().unwrap(), before);
        let objectives: Vec<f64> = run.trace().into_iter().map(|(_, objective)| objective).collect();
        assert_eq!(objectives.len(), 6);
        let dense = DenseModel::new(&host, before);
        let y = host.y();
        let quadratic = y.dot(&y) / dense.noise_variance() / (2 * N) as f64;
        let expected = dense.nlml() - dense.quadratic_part() + quadratic;
        for objective in objectives {
            assert!((objective / expected - 1.0).abs() < 1e-10, "{objective} and {expected}");
            assert!(objective > dense.nlml());
        }
    }
}

#[test]
fn descent_lowers_the_likelihood() {
    for host in hosts() {
        let host = host.passes(400.0);
        let mut run = host.begin::<Scgd>(&exact(1.0)).unwrap();
        let before = DenseModel::new(&host, run.model().unwrap());
        run.fit().unwrap();
        let after = DenseModel::new(&host, run.model().unwrap());
        println!("nlml {} to {}, error {}", before.nlml(), after.nlml(), after.training_error());
        assert!(after.nlml() < before.nlml() - 0.05);
        // The claim is the likelihood's bound at the learned weights.
        let claimed = run.trace().last().unwrap().1;
        assert!(claimed > after.nlml() - 1e-3, "{claimed} and {}", after.nlml());
    }
}

#[test]
fn the_objective_falls_by_log_two_in_half_the_units() {
    behaviour::falls_by_log_two_in_half_the_units::<Scgd>(N, &exact(0.0));
}

#[test]
fn every_pass_notes_its_dead_features_and_counts_its_rows() {
    let [host, ..] = hosts();
    let mut run = host.begin::<Scgd>(&[("batch", 13.into())]).unwrap();
    run.fit().unwrap();
    // Five batches a pass, the last one short.
    let steps: Vec<i64> = run.notes().iter().map(|(step, ..)| *step).collect();
    assert_eq!(steps, [5, 10, 15, 20, 25, 30]);
    assert!(
        run.notes().iter().all(|(_, name, value)| name == "dead_features" && (0.0..=10.0).contains(value))
    );
    let used = run.used();
    assert_eq!((used.features as usize, used.entries as usize), (7 * N, 0));
}

#[test]
fn a_rate_too_large_diverges() {
    let [host, ..] = hosts();
    behaviour::diverges_at_a_large_rate::<Scgd>(&host.passes(2000.0));
}

#[test]
fn other_families_and_odd_numbers_of_features_are_refused() {
    let host = FitHost::wave(N).family(Family::Matern32);
    assert!(host.begin::<Scgd>(&[]).is_err());
    assert!(FitHost::wave(N).begin::<Scgd>(&[("features", 31.into())]).is_err());
}

#[test]
fn the_noise_stays_above_its_floor() {
    let host = FitHost::wave(N).passes(200.0);
    behaviour::stays_above_a_noise_floor_of_half::<Scgd>(
        &host,
        &[("noise_floor", 0.5.into()), ("features", 20.into())],
    );
}
