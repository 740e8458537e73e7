//! Budgets, warm starts, dependent columns: what has to hold whatever the numbers.

use gpbench_plugin_block_cg::BlockCg;
use gpbench_sdk::ndarray::{Array2, Axis, array, concatenate, s};
use gpbench_sdk::{ParamValue, Reason};
use gpbench_testing::{
    DenseProblem, Outcome, matern32, relative_residuals, scattered, scattered_inputs,
    scattered_right_hand_sides,
};
use gpbench_testkit::{ClosedForm, assert_close};

/// Without a preconditioner.
fn plain() -> Vec<(&'static str, ParamValue)> {
    vec![("preconditioner", "none".into())]
}

const N: usize = 120;

fn system() -> Array2<f64> {
    matern32(&scattered_inputs(N), 1.0, 0.3, &[0.5, 0.5])
}

/// Right-hand sides of the system above, which the preconditioners know the kernel of.
fn problem(b: &Array2<f64>) -> DenseProblem {
    DenseProblem::matern32(&scattered_inputs(N), 1.0, 0.3, &[0.5, 0.5], b)
}

fn well_posed() -> DenseProblem {
    problem(&scattered_right_hand_sides(N, 20)).tolerance(1e-6)
}

/// True residuals at most this, whatever was claimed.
fn assert_solved(outcome: &Outcome, a: &Array2<f64>, b: &Array2<f64>, tolerance: f64) {
    assert_eq!(outcome.reason, Reason::Converged);
    let residuals = relative_residuals(a, &outcome.x, b);
    assert!(residuals.iter().all(|norm| *norm <= tolerance), "{residuals:?}");
}

#[test]
fn the_space_is_exhausted_after_n_over_s_iterations() {
    // Condition number 10: rounding has no time to spoil anything.
    for (n, s) in [(60, 7), (60, 20), (61, 20), (60, 60)] {
        let diagonal: Vec<f64> = (0..n).map(|i| 1.0 + 9.0 * i as f64 / n as f64).collect();
        let known = ClosedForm::diagonal(&diagonal);
        let b = scattered_right_hand_sides(n, s);
        let problem = DenseProblem::new(known.matrix, b.clone()).tolerance(1e-12);
        let outcome = problem.solve::<BlockCg>(&plain()).unwrap();
        let enough = n.div_ceil(s) as i64;
        assert!(outcome.iterations <= enough, "{s} columns: {} iterations", outcome.iterations);
        assert_eq!(outcome.reason, Reason::Converged);
        assert_close(&outcome.x, &known.inverse.dot(&b), 1e-10);
    }
}

#[test]
fn one_right_hand_side_is_conjugate_gradients() {
    // Textbook conjugate gradients, in its own words.
    let (a, b) = (system(), scattered_right_hand_sides(N, 1));
    let outcome = problem(&b).solve::<BlockCg>(&[plain().remove(0), ("max_iterations", 12.into())]).unwrap();
    let (mut x, mut r) = (Array2::<f64>::zeros((N, 1)), b.clone());
    let mut d = r.clone();
    let square = |v: &Array2<f64>| v.iter().map(|entry| entry * entry).sum::<f64>();
    for (iteration, norms) in &outcome.trace {
        let expected = (square(&r) / square(&b)).sqrt();
        assert!((norms[0] / expected - 1.0).abs() < 1e-9, "iteration {iteration}: {} {expected}", norms[0]);
        if *iteration == 12 {
            break;
        }
        let product = a.dot(&d);
        let before = square(&r);
        let alpha = before / (&d * &product).sum();
        x.scaled_add(alpha, &d);
        r.scaled_add(-alpha, &product);
        d = &r + &(d * (square(&r) / before));
    }
    assert_close(&outcome.x, &x, 1e-9);
}

#[test]
fn one_iteration_for_each_distinct_eigenvalue() {
    let b = scattered_right_hand_sides(90, 3);
    let u: Vec<f64> = (0..90).map(|i| scattered(i, 7)).collect();
    let three: Vec<f64> = (0..90).map(|i| 1.0 + (i % 3) as f64).collect();
    let systems = [(ClosedForm::identity_plus_rank_one(&u), 2), (ClosedForm::diagonal(&three), 3)];
    for (known, distinct) in systems {
        let problem = DenseProblem::new(known.matrix, b.clone()).tolerance(1e-10);
        let outcome = problem.solve::<BlockCg>(&plain()).unwrap();
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Converged, distinct));
        assert_close(&outcome.x, &known.inverse.dot(&b), 1e-12);
        // One product an iteration, none before the first.
        assert_eq!(outcome.entries, (distinct * 90 * 90) as f64);
    }
}

#[test]
fn dependent_right_hand_sides_share_their_directions() {
    // Three independent ones, copies, sums, a multiple, and one that nearly is a copy.
    let three = scattered_right_hand_sides(N, 3);
    let near =
        &three.slice(s![.., ..1]) + &(1e-9 * &scattered_right_hand_sides(N, 8).slice_move(s![.., 7..]));
    let sums = &three.slice(s![.., ..2]) + &three.slice(s![.., 1..]);
    let b = concatenate![Axis(1), three, three, sums, &three * 1e6, near];
    for params in [plain(), vec![("preconditioner", "pivoted_cholesky".into()), ("rank", 10.into())]] {
        let alone = problem(&three).tolerance(1e-7).solve::<BlockCg>(&params).unwrap();
        let outcome = problem(&b).tolerance(1e-7).solve::<BlockCg>(&params).unwrap();
        assert_solved(&outcome, &system(), &b, 1.2e-6);
        assert_eq!((outcome.number("block_width"), outcome.number("restarts")), (3.0, 0.0));
        assert!(outcome.iterations <= alone.iterations + 1, "{} {}", outcome.iterations, alone.iterations);
    }
}

#[test]
fn what_a_dropped_column_loses_is_found_again() {
    // Nearly a copy: dropped at first, and yet solved far beyond what it was dropped for.
    let one = scattered_right_hand_sides(N, 1);
    let near = &one + &(1e-7 * &scattered_right_hand_sides(N, 2).slice_move(s![.., 1..]));
    let b = concatenate![Axis(1), one, near];
    let outcome = problem(&b).tolerance(1e-12).solve::<BlockCg>(&plain()).unwrap();
    assert_solved(&outcome, &system(), &b, 1e-11);
    assert!(outcome.number("restarts") >= 1.0);
}

#[test]
fn more_right_hand_sides_than_rows() {
    let b = scattered_right_hand_sides(N, 150);
    for params in [plain(), vec![]] {
        let outcome = problem(&b).tolerance(1e-9).solve::<BlockCg>(&params).unwrap();
        assert_solved(&outcome, &system(), &b, 1e-8);
        assert!(outcome.iterations <= 2, "{}", outcome.iterations);
    }
}

#[test]
fn zero_and_solved_columns_stay_finite() {
    let mut b = scattered_right_hand_sides(N, 5);
    b.column_mut(1).fill(0.0);
    let solution = problem(&b).tolerance(1e-13).solve::<BlockCg>(&plain()).unwrap().x;
    // Two columns start from the solution, one of them from zero's.
    let mut start = Array2::from_elem((N, 5), 1.0);
    start.column_mut(3).assign(&solution.column(3));
    for params in [plain(), vec![]] {
        let outcome = problem(&b).tolerance(1e-9).start(start.clone()).solve::<BlockCg>(&params).unwrap();
        assert!(outcome.x.iter().all(|x| x.is_finite()));
        assert!(outcome.x.column(1).iter().all(|&x| x == 0.0));
        assert_eq!((outcome.reason, outcome.claimed[1]), (Reason::Converged, 0.0));
        assert_close(&outcome.x, &solution, 1e-7);
    }

    let nothing = problem(&Array2::zeros((N, 3))).start(Array2::from_elem((N, 3), 1.0));
    let outcome = nothing.solve::<BlockCg>(&[]).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Converged, 0));
    assert!(outcome.x.iter().all(|&x| x == 0.0));
}

#[test]
fn little_noise_and_a_preconditioner_reach_the_truth() {
    // A condition number of about 1e8, and right-hand sides as posteriors have them: draws plus noise.
    let n = 200;
    let a = matern32(&scattered_inputs(n), 1.0, 1e-3, &[1.0, 1.0]);
    let noise = 1e-3 * scattered_right_hand_sides(n, 8);
    let b = (a.dot(&scattered_right_hand_sides(n, 8)) + noise).slice_move(s![.., ..]);
    let problem = DenseProblem::matern32(&scattered_inputs(n), 1.0, 1e-3, &[1.0, 1.0], &b).tolerance(1e-6);
    for preconditioner in ["pivoted_cholesky", "rp_cholesky", "nystrom"] {
        let params = [("preconditioner", preconditioner.into()), ("rank", 100.into())];
        let outcome = problem.solve::<BlockCg>(&params).unwrap();
        println!("{preconditioner}: {} iterations", outcome.iterations);
        assert_solved(&outcome, &a, &b, 1e-5);
        assert!(outcome.iterations < 40, "{}", outcome.iterations);
    }
}

/// A remainder fifty times the noise, as late in training.
#[test]
fn the_remainder_saves_iterations_whatever_its_share() {
    let n = 600;
    let x = Array2::from_shape_fn((n, 5), |(i, j)| scattered(i, j + 50));
    let (b, lengths) = (scattered_right_hand_sides(n, 8), [1.5; 5]);
    let problem = DenseProblem::matern32(&x, 1.0, 0.02, &lengths, &b).tolerance(0.01).targets(1);
    let iterations = |share: f64| {
        let outcome = problem.solve::<BlockCg>(&[("rank", 60.into()), ("remainder", share.into())]).unwrap();
        assert_eq!(outcome.reason, Reason::Converged);
        outcome.iterations
    };
    let plain = iterations(0.0);
    for share in [-1.0, 0.1, 0.3, 1.0, 3.0] {
        let fewer = iterations(share);
        println!("share {share}: {fewer} iterations, {plain} without");
        assert!(10 * fewer <= 8 * plain, "share {share}: {fewer} iterations, {plain} without");
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    // More rows than two tiles hold.
    let n = 1100;
    let problem = DenseProblem::matern32(
        &scattered_inputs(n),
        1.0,
        0.3,
        &[0.5, 0.5],
        &scattered_right_hand_sides(n, 9),
    );
    for preconditioner in ["none", "rp_cholesky"] {
        let params: [(&str, ParamValue); 3] =
            [("preconditioner", preconditioner.into()), ("rank", 40.into()), ("max_iterations", 6.into())];
        let x = |threads| problem.clone().threads(threads).solve::<BlockCg>(&params).unwrap().x;
        assert_eq!(x(1), x(2));
        assert_eq!(x(1), x(7));
    }
}

#[test]
fn a_budget_spent_during_the_setup_stops_it() {
    let params = [("preconditioner", "nystrom".into()), ("rank", 60.into())];
    let outcome = well_posed().max_epochs(0.0).solve::<BlockCg>(&params).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Stopped, 0));
    assert_eq!((outcome.trace.len(), outcome.entries), (0, outcome.entries_prepare));
}

#[test]
fn an_indefinite_matrix_ends_without_nan() {
    // Along the first direction the one bends down; the other not at all, but for rounding.
    for least in [-2.0, -1.0] {
        let problem = DenseProblem::new(array![[1.0, 0.0], [0.0, least]], array![[1.0], [1.0]]);
        let outcome = problem.tolerance(1e-6).solve::<BlockCg>(&plain()).unwrap();
        assert!([Reason::Stagnated, Reason::Diverged].contains(&outcome.reason), "{}", outcome.reason);
        assert!(outcome.x.iter().all(|x| x.is_finite()));
        assert!(least > -2.0 || outcome.x.iter().all(|&x| x == 0.0));
    }
}

#[test]
fn the_default_rank_is_a_tenth_of_the_rows() {
    let outcome = well_posed().solve::<BlockCg>(&[]).unwrap();
    assert_eq!(outcome.number("preconditioner_rank"), 12.0);
}
