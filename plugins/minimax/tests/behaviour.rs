//! Whole fits against the model's dense matrices.

use gpbench_plugin_minimax::Minimax;
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

/// All rows in each batch.
fn exact(learning_rate: f64) -> [(&'static str, ParamValue); 3] {
    [("batch", ParamValue::Int(N as i64)), ("features", 40.into()), ("learning_rate", learning_rate.into())]
}

#[test]
fn predictions_are_those_of_the_model() {
    behaviour::predicts_as_its_model::<Minimax>(&hosts(), &[("batch", 13.into()), ("features", 40.into())]);
}

/// At the start A = F and B = 0, so that Psi = l. With w = 0, l + n log 2 pi is |y|^2 / s^2 + log|H| + n log 2 pi: the likelihood but for its quadratic form.
#[test]
fn the_objective_is_an_upper_bound_that_a_step_at_rate_zero_keeps() {
    for host in hosts() {
        let mut run = host.begin::<Minimax>(&exact(0.0)).unwrap();
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

/// At the published mu = 1 this is another function's descent, but the likelihood falls with it.
#[test]
fn descent_lowers_the_likelihood() {
    for host in hosts() {
        let host = host.passes(400.0);
        let mut run = host.begin::<Minimax>(&exact(1.0)).unwrap();
        let before = DenseModel::new(&host, run.model().unwrap());
        run.fit().unwrap();
        let after = DenseModel::new(&host, run.model().unwrap());
        println!("nlml {} to {}, error {}", before.nlml(), after.nlml(), after.training_error());
        assert!(after.nlml() < before.nlml() - 0.05);
    }
}

#[test]
fn the_objective_falls_by_log_two_in_half_the_units() {
    behaviour::falls_by_log_two_in_half_the_units::<Minimax>(N, &exact(0.0));
}

#[test]
fn every_pass_notes_how_far_the_penalty_holds() {
    let [host, ..] = hosts();
    let mut run = host.begin::<Minimax>(&[("batch", 13.into()), ("monitor", 2.into())]).unwrap();
    run.fit().unwrap();
    // Five batches a pass, the last one short.
    let notes = |wanted: &str| -> Vec<(i64, f64)> {
        let notes = run.notes().into_iter().filter(|(_, name, _)| name == wanted);
        notes.map(|(step, _, value)| (step, value)).collect()
    };
    let steps = |wanted| notes(wanted).into_iter().map(|(step, _)| step).collect::<Vec<_>>();
    for name in ["dead_features", "lifted_values"] {
        assert_eq!(steps(name), [5, 10, 15, 20, 25, 30], "{name}");
    }
    for name in ["gap", "b_norm", "kappa", "lifted_share"] {
        assert_eq!(steps(name), [10, 20, 30], "{name}");
    }
    assert!(notes("b_norm").iter().all(|(_, norm)| (0.0..=1.0 + 1e-12).contains(norm)));
    assert!(notes("kappa").iter().all(|(_, kappa)| *kappa >= 10.0), "at least the order of F");
    assert!(notes("gap").iter().all(|(_, gap)| *gap > 0.0));
    // Both batches of a step, all rows at the start and at three looks.
    assert_eq!((run.used().features as usize, run.used().entries as usize), (16 * N, 0));
}

/// Without evaluations of the penalty the steps are the same.
#[test]
fn looks_at_the_penalty_change_nothing() {
    let [host, ..] = hosts();
    let trace = |monitor: i64| {
        let mut run = host.begin::<Minimax>(&[("batch", 13.into()), ("monitor", monitor.into())]).unwrap();
        run.fit().unwrap();
        run.trace()
    };
    assert_eq!(trace(0), trace(1));
}

/// The two batches of a step come from streams of their own.
#[test]
fn the_second_batch_is_drawn_anew() {
    let [host, ..] = hosts();
    let mut run = host.begin::<Minimax>(&[("batch", 13.into())]).unwrap();
    run.fit().unwrap();
    let batches = run.batches();
    assert_eq!(batches.len(), 60);
    for pair in batches.chunks(2) {
        assert_eq!((pair[0].0, pair[1].0), (0, 1));
        assert_ne!(pair[0].1, pair[1].1);
    }
}

#[test]
fn a_rate_too_large_diverges() {
    let [host, ..] = hosts();
    behaviour::diverges_at_a_large_rate::<Minimax>(&host.passes(2000.0));
}

#[test]
fn other_families_and_odd_numbers_of_features_are_refused() {
    let host = FitHost::wave(N).family(Family::Matern32);
    assert!(host.begin::<Minimax>(&[]).is_err());
    assert!(FitHost::wave(N).begin::<Minimax>(&[("features", 31.into())]).is_err());
}

#[test]
fn the_noise_stays_above_its_floor() {
    let host = FitHost::wave(N).passes(200.0);
    behaviour::stays_above_a_noise_floor_of_half::<Minimax>(
        &host,
        &[("noise_floor", 0.5.into()), ("features", 20.into())],
    );
}
