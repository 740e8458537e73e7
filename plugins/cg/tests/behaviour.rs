//! Budgets, warm starts, degenerate systems: what has to hold whatever the numbers.

use gpbench_plugin_cg::Cg;
use gpbench_sdk::Reason;
use gpbench_sdk::ndarray::{Array2, array};
use gpbench_testing::{DenseProblem, scattered, scattered_inputs, scattered_right_hand_sides};
use gpbench_testkit::{ClosedForm, assert_close};

/// 120 rows and 20 right-hand sides: three groups of them, the last one narrow.
fn well_posed() -> DenseProblem {
    DenseProblem::scattered(0.3, 0.5, 20).tolerance(1e-6)
}

#[test]
fn one_iteration_for_each_distinct_eigenvalue() {
    let b = scattered_right_hand_sides(90, 3);
    let u: Vec<f64> = (0..90).map(|i| scattered(i, 7)).collect();
    let three: Vec<f64> = (0..90).map(|i| 1.0 + (i % 3) as f64).collect();
    let systems = [(ClosedForm::identity_plus_rank_one(&u), 2), (ClosedForm::diagonal(&three), 3)];
    for (known, distinct) in systems {
        let problem = DenseProblem::new(known.matrix, b.clone()).tolerance(1e-10);
        let outcome = problem.solve::<Cg>(&[]).unwrap();
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Converged, distinct));
        // One product an iteration, none before the first.
        assert_eq!(outcome.entries, (distinct * 90 * 90) as f64);
        assert_close(&outcome.x, &known.inverse.dot(&b), 1e-12);
    }
}

#[test]
fn preconditioners_do_not_depend_on_the_number_of_threads() {
    for preconditioner in ["pivoted_cholesky", "rp_cholesky", "nystrom"] {
        let solve = |threads| {
            let params = [("preconditioner", preconditioner.into()), ("rank", 10.into())];
            well_posed().threads(threads).solve::<Cg>(&params).unwrap().x
        };
        assert_eq!(solve(1), solve(2));
        assert_eq!(solve(1), solve(7));
    }
}

#[test]
fn preconditioners_pay_on_a_smooth_kernel() {
    let (n, rank) = (150.0, 60.0);
    let smooth = DenseProblem::matern32(
        &scattered_inputs(150),
        1.0,
        1e-2,
        &[2.0, 2.0],
        &scattered_right_hand_sides(150, 3),
    )
    .tolerance(1e-6);
    let plain = smooth.solve::<Cg>(&[]).unwrap();
    // What each asks of the kernel matrix before the first iteration.
    let kinds = [
        ("pivoted_cholesky", rank * n..=rank * n),
        ("rp_cholesky", rank * n..=rank * n + 4.0 * rank * rank),
        ("nystrom", n * n..=n * n),
    ];
    for (preconditioner, entries) in kinds {
        let params = [("preconditioner", preconditioner.into()), ("rank", 60.into())];
        let preconditioned = smooth.solve::<Cg>(&params).unwrap();
        assert_eq!(preconditioned.reason, Reason::Converged);
        let iterations = (preconditioned.iterations, plain.iterations);
        assert!(3 * iterations.0 < iterations.1, "{preconditioner}: {iterations:?}");
        assert!(entries.contains(&preconditioned.entries_prepare), "{}", preconditioned.entries_prepare);
        assert_eq!(preconditioned.numbers, [("preconditioner_rank".to_owned(), rank)]);
    }
}

#[test]
fn the_seed_draws_random_preconditioners_alone() {
    for preconditioner in ["pivoted_cholesky", "rp_cholesky", "nystrom"] {
        let solve = |seed| {
            let params = [("preconditioner", preconditioner.into()), ("rank", 10.into())];
            well_posed().seed(seed).solve::<Cg>(&params).unwrap().x
        };
        assert_eq!(solve(1) != solve(2), preconditioner != "pivoted_cholesky");
    }
}

#[test]
fn a_budget_spent_during_the_setup_stops_it() {
    let params = [("preconditioner", "pivoted_cholesky".into()), ("rank", 60.into())];
    let outcome = well_posed().max_epochs(0.1).solve::<Cg>(&params).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Stopped, 0));
    assert_eq!((outcome.trace.len(), outcome.entries), (0, outcome.entries_prepare));
}

#[test]
fn columns_that_converge_early_stay_finite() {
    let mut b = scattered_right_hand_sides(120, 3);
    b.column_mut(1).fill(0.0);
    // An eigenvector of the identity part: solved exactly at the first step.
    let mut a = Array2::eye(120);
    a[[0, 1]] = 0.5;
    a[[1, 0]] = 0.5;
    b.column_mut(2).fill(0.0);
    b[[5, 2]] = 1.0;
    let outcome = DenseProblem::new(a.clone(), b.clone())
        .start(Array2::from_elem((120, 3), 1.0))
        .solve::<Cg>(&[("max_iterations", 200.into())])
        .unwrap();
    assert!(outcome.x.iter().all(|x| x.is_finite()));
    assert!(outcome.x.column(1).iter().all(|&x| x == 0.0));
    assert!(outcome.claimed.iter().all(|norm| *norm < 1e-14), "{:?}", outcome.claimed);
    assert!((&b - &a.dot(&outcome.x)).iter().all(|r| r.abs() < 1e-13));
}

#[test]
fn an_indefinite_matrix_stagnates_without_nan() {
    let a = array![[1.0, 0.0], [0.0, -1.0]];
    let outcome = DenseProblem::new(a, array![[1.0], [1.0]]).tolerance(1e-6).solve::<Cg>(&[]).unwrap();
    assert_eq!(outcome.reason, Reason::Stagnated);
    assert!(outcome.x.iter().all(|x| x.is_finite()));
}

#[test]
fn duplicate_rows_end_the_factor_early() {
    let twice = Array2::from_shape_fn((40, 2), |(i, j)| scattered(i / 4, j));
    let duplicated =
        DenseProblem::matern32(&twice, 1.0, 0.1, &[0.5, 0.5], &scattered_right_hand_sides(40, 1))
            .tolerance(1e-8);
    let params = [("preconditioner", "pivoted_cholesky".into()), ("rank", 30.into())];
    let outcome = duplicated.solve::<Cg>(&params).unwrap();
    assert_eq!(outcome.numbers, [("preconditioner_rank".to_owned(), 10.0)]);
    // The preconditioner is the inverse.
    assert!(
        outcome.iterations <= 2 && outcome.reason == Reason::Converged,
        "{} iterations",
        outcome.iterations
    );
}
