//! Solves through the tables that the host uses.

use gpbench_plugin_cholesky::Cholesky;
use gpbench_sdk::Reason;
use gpbench_sdk::abi::Status;
use gpbench_sdk::ndarray::{Array2, array};
use gpbench_testing::{DenseProblem, relative_residuals};
use gpbench_testkit::{ClosedForm, assert_close};

/// A covariance of order n that falls slowly along a line.
fn system(n: usize) -> ClosedForm {
    ClosedForm::exponential_on_a_grid(n, (-1.0f64 / 20.0).exp())
}

fn right_hand_sides(n: usize, s: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, s), |(i, j)| ((i * (j + 3)) as f64).sin())
}

#[test]
fn solves_to_working_precision_using_half_an_epoch() {
    // More than two stripes, the last one narrow.
    let (ClosedForm { matrix, inverse, .. }, b) = (system(600), right_hand_sides(600, 3));
    let outcome = DenseProblem::new(matrix.clone(), b.clone()).solve::<Cholesky>(&[]).unwrap();
    assert!(relative_residuals(&matrix, &outcome.x, &b).iter().all(|norm| *norm < 1e-13));
    assert_close(&outcome.x, &inverse.dot(&b), 1e-12);
    assert_eq!((outcome.reason, outcome.claimed.len()), (Reason::Converged, 0));
    let stripes: usize = [(600, 256), (344, 256), (88, 88)].iter().map(|(rows, cols)| rows * cols).sum();
    assert_eq!(outcome.entries, stripes as f64);
}

#[test]
fn a_matrix_that_is_not_positive_definite_is_named_with_its_minor() {
    let a = array![[2.0, 0.0, 0.0], [0.0, 1.0, 3.0], [0.0, 3.0, 1.0]];
    let failure = DenseProblem::new(a, right_hand_sides(3, 1)).solve::<Cholesky>(&[]).unwrap_err();
    assert_eq!(failure.status(), Some(Status::NOT_POSITIVE_DEFINITE));
    assert!(failure.to_string().contains("minor of order 3"), "{failure}");
}

#[test]
fn a_spent_budget_stops_the_setup() {
    let problem = DenseProblem::new(system(600).matrix, right_hand_sides(600, 1)).max_epochs(0.3);
    let outcome = problem.solve::<Cholesky>(&[]).unwrap();
    assert_eq!((outcome.reason, outcome.entries), (Reason::Stopped, outcome.entries_prepare));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let solve = |threads| {
        let problem = DenseProblem::new(system(1100).matrix, right_hand_sides(1100, 35));
        problem.threads(threads).solve::<Cholesky>(&[]).unwrap().x
    };
    let one = solve(1);
    assert_eq!(one, solve(2));
    assert_eq!(one, solve(5));
}

gpbench_testing::solver_rules! { gpbench_testing::rules::Tested::solver::<Cholesky>() }
