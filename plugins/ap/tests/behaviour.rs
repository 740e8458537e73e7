//! Budgets, warm starts, degenerate systems: what has to hold whatever the numbers.

use gpbench_plugin_ap::Ap;
use gpbench_sdk::abi::Status;
use gpbench_sdk::ndarray::{Array2, Axis, array};
use gpbench_sdk::{ParamValue, Reason};
use gpbench_testing::{DenseProblem, Outcome, matern32, scattered_inputs, scattered_right_hand_sides};
use gpbench_testkit::{ClosedForm, assert_close};

const N: usize = 120;

fn matrix() -> Array2<f64> {
    matern32(&scattered_inputs(N), 1.0, 0.3, &[0.5, 0.5])
}

/// 20 right-hand sides: three groups of them, the last one narrow.
fn well_posed() -> DenseProblem {
    DenseProblem::new(matrix(), scattered_right_hand_sides(N, 20)).tolerance(1e-6)
}

/// Solves with blocks of so many rows, which leaves the other parameters to their defaults.
fn solve(problem: &DenseProblem, block_size: i64) -> Outcome {
    problem.solve::<Ap>(&[("block_size", block_size.into())]).unwrap()
}

/// Kernel entries of one projection with blocks of so many rows, all of one size.
fn entries(block_size: i64) -> f64 {
    (N as i64 * block_size) as f64
}

#[test]
fn every_projection_shortens_the_error_in_the_norm_of_the_matrix() {
    let solution = solve(&well_posed().tolerance(1e-12), N as i64).x;
    let squares = |x: &Array2<f64>| {
        let error = x - &solution;
        (&error * &matrix().dot(&error)).sum_axis(Axis(0))
    };
    let outcome = solve(&well_posed().tolerance(1e-4).iterates(), 40);
    assert!(outcome.iterations > 3);
    for pair in outcome.iterates.windows(2) {
        assert!(squares(&pair[0]).iter().zip(squares(&pair[1])).all(|(before, after)| after <= *before));
    }
}

#[test]
fn the_blocks_and_some_columns_for_each_projection_are_all_that_it_costs() {
    let outcome = solve(&well_posed(), 40);
    assert_eq!(outcome.numbers, [("blocks".to_owned(), 3.0)]);
    assert_eq!(outcome.entries_prepare, entries(40));
    assert_eq!(outcome.entries, outcome.entries_prepare + outcome.iterations as f64 * entries(40));
}

#[test]
fn the_host_sees_the_iterate_a_few_times_an_epoch() {
    let outcome = solve(&well_posed().tolerance(1e-3), 10);
    let (last, regular) = outcome.trace.split_last().unwrap();
    // Twelve blocks, four observations an epoch.
    assert!(regular.iter().enumerate().all(|(k, (iteration, _))| *iteration == 3 * k as i64));
    assert_eq!(last.0, outcome.iterations);
    assert!(outcome.iterations > 12);
}

#[test]
fn independent_blocks_take_one_projection_each() {
    let known = ClosedForm::diagonal(&(0..90).map(|i| 1.0 + (i % 3) as f64).collect::<Vec<_>>());
    let b = scattered_right_hand_sides(90, 3);
    let problem = DenseProblem::new(known.matrix, b.clone()).tolerance(1e-10);
    let outcome = problem.solve::<Ap>(&[("block_size", 13.into())]).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Converged, 7));
    assert_close(&outcome.x, &known.inverse.dot(&b), 1e-14);
}

#[test]
fn one_block_is_an_exact_solve() {
    for block_size in [N as i64, 5000] {
        let outcome = solve(&well_posed().tolerance(1e-10), block_size);
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Converged, 1));
        assert_eq!(outcome.entries, 2.0 * entries(N as i64));
        assert!(well_posed().residuals(&outcome.x).iter().all(|norm| *norm < 1e-13));
    }
}

#[test]
fn the_seed_draws_the_blocks_unless_they_are_contiguous() {
    let x = |seed, partition: &str| {
        let params: [(&str, ParamValue); 2] = [("block_size", 16.into()), ("partition", partition.into())];
        well_posed().tolerance(1e-2).seed(seed).solve::<Ap>(&params).unwrap().x
    };
    assert_eq!(x(1, "random"), x(1, "random"));
    assert_ne!(x(1, "random"), x(2, "random"));
    assert_eq!(x(1, "contiguous"), x(2, "contiguous"));
}

#[test]
fn a_singular_matrix_stagnates() {
    let a = array![[1.0, 1.0], [1.0, 1.0]];
    let problem = DenseProblem::new(a, array![[1.0], [-1.0]]).tolerance(1e-6);
    let outcome = solve(&problem, 1);
    assert_eq!(outcome.reason, Reason::Stagnated);
    assert!(outcome.x.iter().all(|x| x.is_finite()));
}

#[test]
fn an_indefinite_matrix_diverges() {
    let a = array![[1.0, 2.0], [2.0, 1.0]];
    let problem = DenseProblem::new(a.clone(), array![[1.0], [0.0]]).tolerance(1e-6);
    let outcome = solve(&problem, 1);
    assert_eq!(outcome.reason, Reason::Diverged);
    assert!(outcome.x.iter().all(|x| x.is_finite()));
    // In one block it is seen at once.
    let failure = problem.solve::<Ap>(&[]).unwrap_err();
    assert_eq!(failure.status(), Some(Status::NOT_POSITIVE_DEFINITE));
}
