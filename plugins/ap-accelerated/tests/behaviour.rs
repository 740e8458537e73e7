//! Budgets, warm starts, degenerate systems: what has to hold whatever the numbers.

use gpbench_plugin_ap_accelerated::ApAccelerated;
use gpbench_sdk::abi::Status;
use gpbench_sdk::ndarray::{Array2, Axis, array};
use gpbench_sdk::{ParamValue, Reason};
use gpbench_testing::{DenseProblem, Outcome, matern32, scattered_inputs, scattered_right_hand_sides};
use gpbench_testkit::{ClosedForm, SmallSystem, assert_close};

const N: usize = 120;

/// A system with neighbours in every block.
fn matrix(noise_scale: f64) -> Array2<f64> {
    matern32(&scattered_inputs(N), 1.0, noise_scale, &[0.5, 0.5])
}

/// Few right-hand sides, since momentum is each one's own.
fn well_posed() -> DenseProblem {
    DenseProblem::new(matrix(0.3), scattered_right_hand_sides(N, 10)).tolerance(1e-6)
}

/// Solves with blocks of so many rows, which leaves the other parameters to their defaults.
fn solve(problem: &DenseProblem, block_size: i64) -> Outcome {
    problem.solve::<ApAccelerated>(&[("block_size", block_size.into())]).unwrap()
}

/// Kernel entries of one projection with blocks of so many rows, all of one size.
fn entries(block_size: i64) -> f64 {
    (N as i64 * block_size) as f64
}

/// Squared error of each column in the norm of the matrix.
fn squared_errors(a: &Array2<f64>, x: &Array2<f64>, solution: &Array2<f64>) -> Vec<f64> {
    let error = x - solution;
    (&error * &a.dot(&error)).sum_axis(Axis(0)).to_vec()
}

#[test]
fn momentum_takes_less_than_half_the_entries() {
    for noise_scale in [0.3, 0.1] {
        let problem =
            DenseProblem::new(matrix(noise_scale), scattered_right_hand_sides(N, 10)).tolerance(1e-2);
        let iterations = |memory: i64| {
            let params = [("block_size", 10.into()), ("memory", memory.into())];
            let outcome = problem.solve::<ApAccelerated>(&params).unwrap();
            assert_eq!(outcome.reason, Reason::Converged);
            outcome.iterations
        };
        let (plain, one, ten) = (iterations(0), iterations(1), iterations(10));
        println!("noise {noise_scale}: {plain} without, {one} with one move, {ten} with ten");
        assert!(2 * ten < plain && ten < one && one < plain, "{noise_scale}: {plain}, {one}, {ten}");
    }
}

#[test]
fn the_error_never_grows_in_the_norm_of_the_matrix_however_small_the_noise() {
    let system = SmallSystem::load();
    let given = system.setting("matern32_smooth");
    let b = scattered_right_hand_sides(300, 3);
    for noise_scale in [given.noise_scale, 1e-3] {
        let a = matern32(&system.x_train, given.signal_scale, noise_scale, &given.length_scale);
        let problem = DenseProblem::new(a.clone(), b.clone());
        let solution = solve(&problem.clone().tolerance(1e-12), 300).x;
        let params = [("block_size", 20.into()), ("max_iterations", 600.into())];
        let outcome = problem.iterates().solve::<ApAccelerated>(&params).unwrap();
        assert_eq!(outcome.reason, Reason::Iterations);
        for pair in outcome.iterates.windows(2) {
            let (before, after) =
                (squared_errors(&a, &pair[0], &solution), squared_errors(&a, &pair[1], &solution));
            // Down to where the solution compared with has errors of its own.
            let pairs = before.iter().zip(&after);
            assert!(
                pairs.clone().all(|(before, after)| *after <= before * (1.0 + 1e-9) + 1e-15),
                "{before:?} {after:?}"
            );
        }
        println!("noise {noise_scale}: {:?}", outcome.claimed);
    }
}

#[test]
fn the_blocks_and_some_columns_for_each_projection_are_all_that_it_costs() {
    let outcome = solve(&well_posed(), 10);
    assert_eq!(outcome.numbers, [("blocks".to_owned(), 12.0)]);
    assert_eq!(outcome.entries_prepare, entries(10));
    assert_eq!(outcome.entries, outcome.entries_prepare + outcome.iterations as f64 * entries(10));
}

#[test]
fn the_host_sees_the_iterate_a_few_times_an_epoch() {
    let outcome = solve(&well_posed(), 10);
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
    let outcome = solve(&problem, 13);
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
fn right_hand_sides_do_not_meddle() {
    // Multiples of each other have the order of the blocks in common, and all else to themselves.
    let b = scattered_right_hand_sides(N, 1);
    let mut both = scattered_right_hand_sides(N, 2);
    both.column_mut(1).assign(&(&b.column(0) * -2.0));
    let one = solve(&DenseProblem::new(matrix(0.3), b).tolerance(1e-8), 20);
    let two = solve(&DenseProblem::new(matrix(0.3), both).tolerance(1e-8), 20);
    assert_eq!(one.iterations, two.iterations);
    assert_close(&two.x.column(0), &one.x.column(0), 1e-10);
    assert_close(&two.x.column(1), &one.x.column(0).mapv(|x| -2.0 * x), 1e-10);
}

#[test]
fn the_seed_draws_the_blocks_unless_they_are_contiguous() {
    let x = |seed, partition: &str| {
        let params: [(&str, ParamValue); 2] = [("block_size", 16.into()), ("partition", partition.into())];
        well_posed().tolerance(1e-2).seed(seed).solve::<ApAccelerated>(&params).unwrap().x
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
    let failure = problem.solve::<ApAccelerated>(&[]).unwrap_err();
    assert_eq!(failure.status(), Some(Status::NOT_POSITIVE_DEFINITE));
}
