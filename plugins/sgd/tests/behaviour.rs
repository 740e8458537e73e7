//! Budgets, warm starts, degenerate systems: what has to hold whatever the numbers.

use gpbench_plugin_sgd::Sgd;
use gpbench_sdk::ndarray::Array2;
use gpbench_sdk::{ParamValue, Reason, Solver};
use gpbench_testing::{DenseProblem, scattered_right_hand_sides};
use gpbench_testkit::{ClosedForm, assert_close};

const N: usize = 120;

/// 120 rows and 3 right-hand sides.
fn well_posed() -> DenseProblem {
    DenseProblem::scattered(0.5, 0.3, 3).tolerance(1e-4)
}

/// Twelve steps an epoch, looked at every third.
fn small_steps() -> Vec<(&'static str, ParamValue)> {
    vec![("batch_size", 10.into()), ("learning_rate", 0.75.into())]
}

/// As `small_steps`, with one more parameter.
fn and(name: &'static str, value: impl Into<ParamValue>) -> Vec<(&'static str, ParamValue)> {
    [small_steps(), vec![(name, value.into())]].concat()
}

#[test]
fn converges_to_the_solution() {
    let outcome = well_posed().tolerance(1e-8).solve::<Sgd>(&small_steps()).unwrap();
    assert_eq!(outcome.reason, Reason::Converged);
    let truth = well_posed().residuals(&outcome.x);
    assert!(truth.iter().all(|norm| *norm < 3e-8), "{truth:?}");
    // The estimate is of the right size, and every step costs a batch of rows.
    for (claimed, truth) in outcome.claimed.iter().zip(&truth) {
        assert!((0.3..3.0).contains(&(claimed / truth)), "{claimed} against {truth}");
    }
    assert_eq!(outcome.entries, (outcome.iterations * 10 * N as i64) as f64);
    assert_eq!(outcome.claimed, outcome.trace.last().unwrap().1);
    assert_eq!(outcome.iterations, outcome.trace.last().unwrap().0);
}

#[test]
fn the_host_looks_a_few_times_an_epoch() {
    let outcome = well_posed().tolerance(0.0).solve::<Sgd>(&and("max_iterations", 24)).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Iterations, 24));
    let steps: Vec<i64> = outcome.trace.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, (0..=24).step_by(3).collect::<Vec<_>>());
}

#[test]
fn a_batch_larger_than_the_data_is_gradient_descent() {
    // The batch is all of the rows, so the rate is divided by their number: steps of 1/2, and by
    // momentum's absence x_k = (1 - (1 - A / 2)^k) A^-1 b.
    let entries: Vec<f64> = (0..8).map(|i| 0.2 + 0.2 * i as f64).collect();
    let known = ClosedForm::diagonal(&entries);
    let b = scattered_right_hand_sides(8, 2);
    let params = [
        ("batch_size", 500.into()),
        ("learning_rate", 4.0.into()),
        ("momentum", 0.0.into()),
        ("max_iterations", 5.into()),
    ];
    let outcome = DenseProblem::new(known.matrix, b.clone()).solve::<Sgd>(&params).unwrap();
    let expected = Array2::from_shape_fn((8, 2), |(i, j)| {
        (1.0 - (1.0 - entries[i] / 2.0).powi(5)) / entries[i] * b[[i, j]]
    });
    assert_close(&outcome.x, &expected, 1e-14);
    assert_eq!(outcome.entries, 5.0 * 64.0);
    // All rows are met at each step: the estimate is the residual of the step before.
    assert_eq!(outcome.trace.len(), 6);
}

#[test]
fn steps_that_are_too_long_diverge_without_nan() {
    for rate in [200.0, 1e6] {
        let params = [("batch_size", 10.into()), ("learning_rate", rate.into())];
        let outcome = well_posed().solve::<Sgd>(&params).unwrap();
        assert_eq!(outcome.reason, Reason::Diverged);
        assert!(outcome.x.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn the_default_learning_rate_does_not_diverge() {
    let end = |length: f64, batch: i64, rate: f64| {
        let params = [("batch_size", batch.into()), ("learning_rate", rate.into())];
        let problem = DenseProblem::scattered(length, 0.3, 3).tolerance(1e-3).max_epochs(100.0);
        problem.solve::<Sgd>(&params).unwrap()
    };
    for (length, batch) in [(0.05, 10), (0.5, 10), (5.0, 10), (0.05, 500), (0.5, 500), (5.0, 500)] {
        assert_ne!(end(length, batch, 0.0).reason, Reason::Diverged, "{length}, {batch}");
    }
    assert_eq!(end(5.0, 10, 30.0).reason, Reason::Diverged);
}

#[test]
fn the_estimate_of_the_learning_rate_is_charged() {
    let params = [("batch_size", 10.into()), ("max_iterations", 24.into())];
    let outcome = well_posed().tolerance(0.0).solve::<Sgd>(&params).unwrap();
    // A block of all rows, since there are few.
    assert_eq!(outcome.entries, (N * N + 24 * 10 * N) as f64);
}

#[test]
fn batch_size_and_momentum_are_the_published_ones() {
    let defaults = <Sgd as Solver>::Params::default();
    assert_eq!((defaults.batch_size, defaults.learning_rate, defaults.momentum), (500, 0.0, 0.9));
}
