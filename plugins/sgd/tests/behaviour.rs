//! Budgets, warm starts, degenerate systems: what has to hold whatever the numbers.

#![allow(clippy::unwrap_used, reason = "helpers of tests, which fail by panicking")]

use gpbench_plugin_sgd::Sgd;
use gpbench_sdk::abi::{Status, reason};
use gpbench_sdk::ndarray::{Array2, s};
use gpbench_sdk::testing::{DenseProblem, matern32, relative_residuals};
use gpbench_sdk::{Solver, Value};
use gpbench_testkit::{ClosedForm, assert_close};

/// A scattered but fixed number in (-1, 1).
fn scattered(i: usize, j: usize) -> f64 {
    2.0 * (((i * 37 + j * 101 + 11) as f64).sin() * 1e4).rem_euclid(1.0) - 1.0
}

fn inputs(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, 2), |(i, j)| scattered(i, j + 50))
}

fn right_hand_sides(n: usize, s: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, s), |(i, j)| scattered(i, j))
}

const N: usize = 120;

fn a() -> Array2<f64> {
    matern32(&inputs(N), 1.0, 0.5, &[0.3, 0.3])
}

/// 120 rows and 3 right-hand sides.
fn well_posed() -> DenseProblem {
    DenseProblem::matern32(&inputs(N), 1.0, 0.5, &[0.3, 0.3], &right_hand_sides(N, 3)).tolerance(1e-4)
}

/// Twelve steps an epoch, looked at every third.
fn small_steps() -> Vec<(&'static str, Value<'static>)> {
    vec![("batch_size", 10.into()), ("learning_rate", 0.75.into())]
}

/// As `small_steps`, with one more parameter.
fn and(name: &'static str, value: impl Into<Value<'static>>) -> Vec<(&'static str, Value<'static>)> {
    [small_steps(), vec![(name, value.into())]].concat()
}

#[test]
fn converges_to_the_solution() {
    let outcome = well_posed().tolerance(1e-8).solve::<Sgd>(&small_steps()).unwrap();
    assert_eq!(outcome.reason, reason::CONVERGED);
    let truth = relative_residuals(&a(), &outcome.x, &right_hand_sides(N, 3));
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
    assert_eq!((outcome.reason, outcome.iterations), (reason::ITERATIONS, 24));
    let steps: Vec<i64> = outcome.trace.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, (0..=24).step_by(3).collect::<Vec<_>>());
}

#[test]
fn iterates_are_what_stands_in_x() {
    let outcome = well_posed().iterates().solve::<Sgd>(&small_steps()).unwrap();
    assert_eq!(outcome.iterates.last().unwrap(), outcome.x);
}

#[test]
fn the_seed_alone_decides() {
    let solve = |seed, threads| {
        well_posed().seed(seed).threads(threads).solve::<Sgd>(&and("max_iterations", 50)).unwrap().x
    };
    assert_eq!(solve(3, 1), solve(3, 1));
    assert_eq!(solve(3, 1), solve(3, 7));
    assert_ne!(solve(3, 1), solve(4, 1));
}

#[test]
fn a_right_hand_side_does_not_depend_on_the_others() {
    let params = and("max_iterations", 50);
    let all = well_posed().solve::<Sgd>(&params).unwrap();
    let b = right_hand_sides(N, 3);
    let one = DenseProblem::new(a(), b.slice(s![.., ..1]).to_owned()).solve::<Sgd>(&params).unwrap();
    assert_close(&one.x.column(0), &all.x.column(0), 1e-12);
    // Nor on its scale, but for which residuals are relative.
    let scaled = DenseProblem::new(a(), b * 1e6).solve::<Sgd>(&params).unwrap();
    assert_close(&scaled.x, &(&all.x * 1e6), 1e-12);
    for (scaled, plain) in scaled.claimed.iter().zip(&all.claimed) {
        assert!((scaled / plain - 1.0).abs() < 1e-12, "{scaled} against {plain}");
    }
}

#[test]
fn one_column_converges() {
    let b = right_hand_sides(N, 1);
    let problem = DenseProblem::new(a(), b.clone()).tolerance(1e-4);
    let outcome = problem.solve::<Sgd>(&small_steps()).unwrap();
    assert_eq!(outcome.reason, reason::CONVERGED);
    assert!(relative_residuals(&a(), &outcome.x, &b)[0] < 3e-4);
}

#[test]
fn a_batch_larger_than_the_data_is_gradient_descent() {
    // The batch is all of the rows, so the rate is divided by their number: steps of 1/2, and by
    // momentum's absence x_k = (1 - (1 - A / 2)^k) A^-1 b.
    let entries: Vec<f64> = (0..8).map(|i| 0.2 + 0.2 * i as f64).collect();
    let known = ClosedForm::diagonal(&entries);
    let b = right_hand_sides(8, 2);
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
fn a_zero_right_hand_side_has_a_zero_solution() {
    let nothing = DenseProblem::new(a(), Array2::zeros((N, 2))).start(Array2::from_elem((N, 2), 1.0));
    let outcome = nothing.solve::<Sgd>(&small_steps()).unwrap();
    assert_eq!((outcome.reason, outcome.iterations, outcome.entries), (reason::CONVERGED, 0, 0.0));
    assert!(outcome.x.iter().all(|&x| x == 0.0));

    let mut b = right_hand_sides(N, 3);
    b.column_mut(1).fill(0.0);
    let outcome = DenseProblem::new(a(), b.clone())
        .start(Array2::from_elem((N, 3), 1.0))
        .tolerance(1e-4)
        .solve::<Sgd>(&small_steps())
        .unwrap();
    assert_eq!(outcome.reason, reason::CONVERGED);
    assert!(outcome.x.column(1).iter().all(|&x| x == 0.0));
    assert_eq!(outcome.claimed[1], 0.0);
    assert!(outcome.x.iter().all(|x| x.is_finite()));
}

#[test]
fn a_warm_start_knows_its_residual() {
    let solution = well_posed().tolerance(1e-6).solve::<Sgd>(&small_steps()).unwrap().x;
    let outcome = well_posed().start(solution.clone()).solve::<Sgd>(&small_steps()).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (reason::CONVERGED, 0));
    assert_eq!(outcome.entries, (N * N) as f64);
    assert_eq!(outcome.x, solution);
    let truth = relative_residuals(&a(), &solution, &right_hand_sides(N, 3));
    for (claimed, truth) in outcome.claimed.iter().zip(truth) {
        assert!((claimed - truth).abs() < 1e-12, "{claimed} against {truth}");
    }
}

#[test]
fn a_warm_start_from_anywhere_converges() {
    let start = Array2::from_elem((N, 3), 3.0);
    let outcome = well_posed().start(start).solve::<Sgd>(&small_steps()).unwrap();
    assert_eq!(outcome.reason, reason::CONVERGED);
    let truth = relative_residuals(&a(), &outcome.x, &right_hand_sides(N, 3));
    assert!(truth.iter().all(|norm| *norm < 3e-4), "{truth:?}");
}

#[test]
fn a_spent_budget_leaves_the_iterate() {
    let spent = well_posed().tolerance(0.0).max_epochs(10.0).solve::<Sgd>(&small_steps()).unwrap();
    assert_eq!((spent.reason, spent.iterations), (reason::STOPPED, 120));
    let truth = relative_residuals(&a(), &spent.x, &right_hand_sides(N, 3));
    assert!(truth.iter().all(|norm| *norm < 0.5), "{truth:?}");
    let limited = well_posed().tolerance(0.0).solve::<Sgd>(&and("max_iterations", 120)).unwrap();
    assert_eq!((&spent.x, &spent.claimed), (&limited.x, &limited.claimed));

    let stopped = well_posed().stop_at(9).solve::<Sgd>(&small_steps()).unwrap();
    assert_eq!((stopped.reason, stopped.iterations), (reason::STOPPED, 9));

    let none_left = well_posed().start(Array2::from_elem((N, 3), 1.0)).max_epochs(0.0);
    assert_eq!(none_left.solve::<Sgd>(&small_steps()).unwrap().reason, reason::STOPPED);
}

#[test]
fn steps_that_are_too_long_diverge_without_nan() {
    for rate in [200.0, 1e6] {
        let params = [("batch_size", 10.into()), ("learning_rate", rate.into())];
        let outcome = well_posed().solve::<Sgd>(&params).unwrap();
        assert_eq!(outcome.reason, reason::DIVERGED);
        assert!(outcome.x.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn a_product_that_is_not_a_number_never_reaches_the_solution() {
    let mut a = a();
    a[[3, 4]] = f64::NAN;
    let outcome = DenseProblem::new(a, right_hand_sides(N, 2)).solve::<Sgd>(&small_steps()).unwrap();
    assert_eq!(outcome.reason, reason::DIVERGED);
    assert!(outcome.x.iter().all(|x| x.is_finite()));
}

#[test]
fn parameters_out_of_range_are_refused() {
    let refused = |name, value| well_posed().solve::<Sgd>(&[(name, value)]).unwrap_err();
    for (name, value) in [
        ("batch_size", 0.into()),
        ("learning_rate", 0.0.into()),
        ("learning_rate", f64::INFINITY.into()),
        ("momentum", 1.0.into()),
        ("momentum", (-0.1).into()),
        ("max_iterations", (-1).into()),
    ] {
        let failure = refused(name, value);
        assert_eq!(failure.status, Status::INVALID_ARGUMENT);
        assert!(failure.text.contains(name), "{}", failure.text);
    }
}

#[test]
fn defaults_are_the_published_ones() {
    let defaults = <Sgd as Solver>::Params::default();
    assert_eq!((defaults.batch_size, defaults.learning_rate, defaults.momentum), (500, 30.0, 0.9));
}
