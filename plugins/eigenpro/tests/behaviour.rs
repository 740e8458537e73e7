//! Costs, budgets, steps that are too long, degenerate systems: what has to hold whatever the numbers.

use gpbench_plugin_eigenpro::{EigenPro, EigenProParams};
use gpbench_sdk::ndarray::{Array2, array};
use gpbench_sdk::{Family, ParamValue, Reason};
use gpbench_testing::{DenseProblem, Outcome, scattered_inputs, scattered_right_hand_sides};

const N: usize = 120;

/// A quarter of the rows.
const SUBSET: usize = 30;

/// A tenth of the rows.
const BATCH: usize = 12;

fn well_posed() -> DenseProblem {
    DenseProblem::scattered(0.3, 0.5, 5).tolerance(1e-6)
}

fn solve(problem: &DenseProblem, params: &[(&str, ParamValue)]) -> Outcome {
    problem.solve::<EigenPro>(params).unwrap()
}

#[test]
fn a_step_costs_its_rows_and_the_subset_and_a_claim_one_epoch() {
    let step = (BATCH * (N + SUBSET)) as f64;
    let outcome = solve(&well_posed(), &[]);
    assert_eq!((outcome.reason, outcome.entries_prepare), (Reason::Converged, (SUBSET * SUBSET) as f64));
    let products =
        (outcome.entries - outcome.entries_prepare - outcome.iterations as f64 * step) / (N * N) as f64;
    // Each residual that was too large is followed by an epoch of steps.
    assert!(products >= 1.0 && products.fract() == 0.0, "{products}");
    assert!(products <= outcome.iterations as f64 * BATCH as f64 / N as f64, "{products}");
    // Where nothing is claimed to have converged, no residual is computed.
    let few = solve(&well_posed(), &[("max_iterations", 7.into())]);
    assert_eq!((few.reason, few.iterations), (Reason::Iterations, 7));
    assert_eq!(few.entries - few.entries_prepare, 7.0 * step);
    assert!(few.claimed.is_empty());
    // Without damped eigenvectors the subset is not read in a step.
    let plain = [("subset_size", 1.into()), ("max_iterations", 7.into())];
    let plain = solve(&well_posed(), &plain);
    assert_eq!(plain.number("rank"), 0.0);
    assert_eq!(plain.entries, 1.0 + 7.0 * plain.number("batch_size") * N as f64);
}

#[test]
fn what_is_claimed_is_true() {
    let outcome = solve(&well_posed(), &[]);
    let truth = well_posed().residuals(&outcome.x);
    for (claimed, truth) in outcome.claimed.iter().zip(&truth) {
        assert!((claimed - truth).abs() < 1e-12, "{claimed} against {truth}");
    }
    assert_eq!(outcome.claimed, outcome.trace.last().unwrap().1);
}

#[test]
fn the_host_sees_the_iterate_a_few_times_an_epoch() {
    let outcome = solve(&well_posed(), &[]);
    let (last, regular) = outcome.trace.split_last().unwrap();
    // Ten steps an epoch.
    assert!(regular.iter().enumerate().all(|(k, (iteration, _))| *iteration == 2 * k as i64));
    assert_eq!(last.0, outcome.iterations);
}

#[test]
fn damped_eigenvectors_permit_larger_batches() {
    let of = |rank: i64| {
        let params = [("rank", rank.into()), ("max_iterations", 1.into()), ("batch_size", 60.into())];
        solve(&well_posed(), &params).number("learning_rate")
    };
    // Of full length: the rows of a batch over the largest diagonal entry.
    assert!((of(20) - 60.0 / 1.09).abs() < 1e-12);
    assert!(of(1) < 0.5 * of(20));
    // Automatic: the smallest rank that suffices.
    let automatic = solve(&well_posed(), &[("max_iterations", 1.into())]);
    let (rank, batch) = (automatic.number("rank"), automatic.number("batch_size"));
    assert!(rank >= 1.0 && batch == BATCH as f64, "{rank}, {batch}");
    let fewer =
        solve(&well_posed(), &[("rank", (rank as i64 - 1).max(1).into()), ("max_iterations", 1.into())]);
    assert!(fewer.number("batch_size") < batch || rank == 1.0);
}

#[test]
fn a_rank_is_at_most_what_the_subset_has() {
    let outcome = solve(&well_posed(), &[("rank", 1000.into()), ("max_iterations", 1.into())]);
    assert_eq!(outcome.number("rank"), (SUBSET - 1) as f64);
}

#[test]
fn mixed_precision_reaches_the_tolerance_in_double() {
    let problem = well_posed().tolerance(1e-9);
    let outcome = solve(&problem, &[("precision", "mixed".into())]);
    assert_eq!(outcome.reason, Reason::Converged);
    let truth = problem.residuals(&outcome.x);
    assert!(truth[0] <= 1.01e-9, "{truth:?}");
    assert!(outcome.claimed.iter().zip(&truth).all(|(claimed, truth)| (claimed - truth).abs() < 1e-14));
}

#[test]
fn a_spent_budget_leaves_the_numbers_and_no_claim() {
    for precision in ["double", "mixed"] {
        let outcome = solve(&well_posed().max_epochs(4.0), &[("precision", precision.into())]);
        assert_eq!(outcome.reason, Reason::Stopped);
        assert_eq!(outcome.number("batch_size"), BATCH as f64);
        assert!(outcome.claimed.is_empty(), "{precision}: {:?}", outcome.claimed);
    }
}

#[test]
fn the_seed_draws_the_subset_and_the_batches() {
    let x = |seed| solve(&well_posed().tolerance(1e-2).seed(seed), &[]).x;
    assert_eq!(x(1), x(1));
    assert_ne!(x(1), x(2));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    // Subset and batch have more rows than a tile and a piece.
    let n = 1300;
    let (x, b) = (scattered_inputs(n), scattered_right_hand_sides(n, 9));
    let problem = DenseProblem::matern32(&x, 1.0, 0.1, &[0.5; 2], &b);
    let params: [(&str, ParamValue); 4] = [
        ("subset_size", 600.into()),
        ("rank", 40.into()),
        ("batch_size", 700.into()),
        ("max_iterations", 4.into()),
    ];
    let x = |threads| problem.clone().threads(threads).solve::<EigenPro>(&params).unwrap().x;
    assert_eq!(x(1), x(2));
    assert_eq!(x(1), x(7));
}

#[test]
fn a_learning_rate_that_is_too_large_diverges() {
    let outcome = solve(&well_posed(), &[("learning_rate", 500.0.into())]);
    assert_eq!(outcome.reason, Reason::Diverged);
    assert!(outcome.x.iter().all(|x| x.is_finite()));
    assert!(outcome.claimed.is_empty());
}

#[test]
fn a_tolerance_below_working_precision_stagnates() {
    let (x, b) = (scattered_inputs(30), scattered_right_hand_sides(30, 1));
    let problem = DenseProblem::matern32(&x, 1.0, 0.5, &[0.3; 2], &b).tolerance(1e-18);
    let outcome = solve(&problem, &[]);
    assert_eq!(outcome.reason, Reason::Stagnated);
    let truth = problem.residuals(&outcome.x);
    assert!(truth[0] < 1e-13, "{truth:?}");
}

#[test]
fn an_indefinite_matrix_diverges() {
    let a = array![[1.0, 2.0], [2.0, 1.0]];
    let problem = DenseProblem::new(a, array![[1.0], [0.0]]).tolerance(1e-6);
    let problem = problem.kernel(Family::Matern32, array![[0.0], [1.0]], 1.0, 0.5, vec![1.0]);
    let outcome = solve(&problem, &[]);
    assert_eq!(outcome.reason, Reason::Diverged);
    assert!(outcome.x.iter().all(|x| x.is_finite()));
}

#[test]
fn a_matrix_that_is_not_finite_is_an_error_or_diverges() {
    let b = scattered_right_hand_sides(N, 2);
    for whole in [true, false] {
        let mut a = Array2::<f64>::eye(N) * 2.0;
        a[[3, 4]] = f64::NAN;
        let problem = DenseProblem::new(a, b.clone()).tolerance(1e-8);
        let problem = problem.kernel(Family::Rbf, scattered_inputs(N), 1.0, 1.0, vec![1e-9; 2]);
        let size = if whole { N as i64 } else { 1 };
        match problem.solve::<EigenPro>(&[("subset_size", size.into())]) {
            Err(error) => assert!(whole && error.to_string().contains("not finite"), "{error}"),
            Ok(outcome) => {
                assert!(!whole && outcome.reason == Reason::Diverged);
                assert!(outcome.x.iter().all(|x| x.is_finite()));
            }
        }
    }
}

#[test]
fn inducing_points_are_refused() {
    let a = Array2::<f64>::ones((N, 5));
    let problem = DenseProblem::new(a, scattered_right_hand_sides(N, 2));
    let problem = problem.kernel(Family::Rbf, scattered_inputs(N), 1.0, 0.1, vec![1.0; 2]);
    assert!(problem.solve::<EigenPro>(&[]).unwrap_err().to_string().contains("not square"));
}

#[test]
fn defaults_are_the_published_ones() {
    let defaults = EigenProParams::default();
    assert_eq!((defaults.exponent, defaults.subset_size(50_000)), (0.95, 2000));
    assert_eq!(defaults.most_batch(50_000), 5000);
}

/// Repeated rows of one input, beside an input that is constant, and rows that are all equal, whose kernel matrix has a
/// single eigenvalue above 0.
#[test]
fn degenerate_inputs_are_solved() {
    let n = 60;
    let line = Array2::from_shape_fn((n, 1), |(i, _)| (i / 4) as f64 / 5.0);
    let flat = Array2::from_shape_fn((n, 2), |(i, j)| if j == 0 { line[[i, 0]] } else { 3.0 });
    for x in [line, flat, Array2::zeros((n, 1))] {
        let lengths = vec![0.5; x.ncols()];
        let b = scattered_right_hand_sides(n, 1);
        let problem = DenseProblem::matern32(&x, 1.0, 0.5, &lengths, &b).tolerance(1e-3);
        let outcome = solve(&problem, &[("batch_size", 2.into())]);
        let truth = problem.residuals(&outcome.x);
        assert_eq!(outcome.reason, Reason::Converged, "{truth:?}");
        assert!(truth[0] <= 1.01e-3, "{truth:?}");
        let most = solve(&problem, &[("rank", 50.into()), ("max_iterations", 1.into())]).number("rank");
        // Fifteen rows of the subset, and one eigenvalue after those that are damped.
        let different = if x.iter().all(|&entry| entry == 0.0) { 1.0 } else { 15.0 };
        assert!(most < different && outcome.x.iter().all(|entry| entry.is_finite()), "{most}");
    }
}
