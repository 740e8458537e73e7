//! Factors that serve several outer steps, and systems that are hard for single precision.

use crate::common;
use std::collections::BTreeMap;

use gpbench_plugin_cholesky_mixed::CholeskyMixed;
use gpbench_sdk::abi::Status;
use gpbench_sdk::ndarray::Array2;
use gpbench_sdk::{Reason, Solver};
use gpbench_testing::{
    DenseProblem, Outcome, Settings, SharedObjects, scattered_inputs, scattered_right_hand_sides,
};

const N: usize = 300;

/// Kernel entries of a factor of N rows: two strips.
const FACTOR_ENTRIES: f64 = (256 * 256 + 44 * 300) as f64;

/// The system of an outer step: noise and length scales fall.
fn system(step: usize, s: usize) -> DenseProblem {
    let scale = 0.93_f64.powi(step as i32);
    let b = scattered_right_hand_sides(N, s);
    DenseProblem::matern32(&scattered_inputs(N), 1.0, 0.3 * scale, &[0.5 * scale, 0.8], &b).tolerance(1e-6)
}

/// Trains for some steps with warm starts. A process ends before the steps in `restarts`.
fn train(steps: usize, restarts: &[usize], settings: &Settings) -> Vec<Outcome> {
    let mut kept = SharedObjects::default();
    let mut outcomes: Vec<Outcome> = Vec::new();
    for step in 0..steps {
        if restarts.contains(&step) {
            kept = SharedObjects::default();
        }
        let mut problem = system(step, 9).objects(&kept);
        if let Some(last) = outcomes.last() {
            problem = problem.state(last.state.clone()).start(last.x.clone());
        }
        outcomes.push(problem.solve::<CholeskyMixed>(settings).unwrap());
    }
    outcomes
}

fn factorisations(outcomes: &[Outcome]) -> Vec<f64> {
    outcomes.iter().map(|outcome| outcome.number("factorisations")).collect()
}

#[test]
fn a_restarted_process_gives_the_same_bits() {
    for precision in ["double", "mixed"] {
        restart(&vec![("precision", precision.into())]);
    }
}

fn restart(settings: &Settings) {
    let whole = train(8, &[], settings);
    assert!(whole.iter().all(|outcome| outcome.reason == Reason::Converged));
    for restarts in [&[1][..], &[3, 5], &[1, 2, 3, 4, 5, 6, 7]] {
        let broken = train(8, restarts, settings);
        for (step, (whole, broken)) in whole.iter().zip(&broken).enumerate() {
            assert_eq!(whole.x, broken.x, "step {step} after restarts before {restarts:?}");
            assert_eq!((whole.entries, &whole.state), (broken.entries, &broken.state));
            assert_eq!((&whole.numbers, &whole.trace), (&broken.numbers, &broken.trace));
        }
    }
}

#[test]
fn a_factor_stays_in_memory() {
    let kept = SharedObjects::default();
    let first = system(0, 2).objects(&kept).solve::<CholeskyMixed>(&[]).unwrap();
    assert_eq!(kept.borrow().bytes() as f64, 4.0 * FACTOR_ENTRIES);
    // Its entries are counted once.
    assert_eq!(first.entries_prepare, FACTOR_ENTRIES);
    let settings = [("steps_per_factor", 2.into())];
    let second =
        system(1, 2).objects(&kept).state(first.state.clone()).solve::<CholeskyMixed>(&settings).unwrap();
    assert_eq!((second.entries_prepare, second.number("factor_age")), (0.0, 1.0));
    assert_eq!(kept.borrow().bytes() as f64, 4.0 * FACTOR_ENTRIES);
    // A factor that the state does not tell of is not used: another solve has left it.
    let other = system(1, 2).objects(&kept).solve::<CholeskyMixed>(&[]).unwrap();
    assert_eq!((other.entries_prepare, other.number("factor_age")), (FACTOR_ENTRIES, 0.0));
}

#[test]
fn a_factor_serves_as_many_steps_as_it_may() {
    let settings = vec![("steps_per_factor", 3.into())];
    assert_eq!(factorisations(&train(8, &[], &settings)), [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
    let always = vec![("steps_per_factor", 1.into())];
    assert_eq!(factorisations(&train(3, &[], &always)), [1.0; 3]);
}

#[test]
fn a_factor_is_replaced_once_iterations_cost_more_than_a_new_one() {
    // Enough rows for a factor to cost as much as several iterations.
    let train = |settings: &Settings| -> Vec<Outcome> {
        let kept = SharedObjects::default();
        let mut state = BTreeMap::new();
        let step = |step: usize| {
            let (b, scale) = (scattered_right_hand_sides(1200, 1), 0.9_f64.powi(step as i32));
            let (x, lengths) = (scattered_inputs(1200), [0.8 * scale, 0.8]);
            let problem = DenseProblem::matern32(&x, 1.0, 0.5 * scale, &lengths, &b).tolerance(0.01);
            let outcome =
                problem.objects(&kept).state(std::mem::take(&mut state)).solve::<CholeskyMixed>(settings);
            let outcome = outcome.unwrap();
            state = outcome.state.clone();
            outcome
        };
        (0..16).map(step).collect()
    };
    let by_cost = train(&Settings::new());
    let made = factorisations(&by_cost).iter().sum::<f64>();
    let iterations = |outcomes: &[Outcome]| outcomes.iter().map(|outcome| outcome.iterations).sum::<i64>();
    let once = train(&vec![("steps_per_factor", 100.into())]);
    println!("{made} factorisations, {} iterations against {}", iterations(&by_cost), iterations(&once));
    assert!((2.0..9.0).contains(&made), "{made} factorisations");
    assert_eq!(factorisations(&once).iter().sum::<f64>(), 1.0);
    assert!(iterations(&by_cost) < iterations(&once));
}

#[test]
fn an_outdated_factor_is_replaced_within_a_solve() {
    let problem = system(0, 1).state(common::state_of(1.0, 1e-3, &[3.0, 3.0])).tolerance(1e-10);
    let outcome = problem.solve::<CholeskyMixed>(&[]).unwrap();
    assert_eq!((outcome.reason, outcome.number("factorisations")), (Reason::Converged, 1.0));
    let kept = problem.solve::<CholeskyMixed>(&[("steps_per_factor", 100.into())]).unwrap();
    assert_eq!(kept.number("factorisations"), 0.0);
    assert!(outcome.iterations < kept.iterations, "{} and {}", outcome.iterations, kept.iterations);
}

#[test]
fn systems_of_any_shape_are_solved() {
    // Less than a tile, whole tiles, and a narrow last one.
    for (n, s) in [(1, 1), (40, 64), (256, 3), (512, 1), (700, 33)] {
        let b = scattered_right_hand_sides(n, s);
        let problem = DenseProblem::matern32(&scattered_inputs(n), 1.0, 0.1, &[0.4, 0.4], &b).tolerance(1e-8);
        let outcome = problem.solve::<CholeskyMixed>(&[]).unwrap();
        assert_eq!(outcome.reason, Reason::Converged, "n = {n}, s = {s}");
        let norms = problem.residuals(&outcome.x);
        assert!(norms[0] < 1.01e-8, "n = {n}, s = {s}: {norms:?}");
    }
}

#[test]
fn tiny_noise_shifts_the_diagonal_of_the_factor() {
    let b = scattered_right_hand_sides(700, 5);
    for noise_scale in [1e-3, 1e-6] {
        let (x, lengths) = (scattered_inputs(700), [1.5, 1.5]);
        let problem = DenseProblem::matern32(&x, 1.0, noise_scale, &lengths, &b).tolerance(1e-3);
        let outcome = problem.solve::<CholeskyMixed>(&[]).unwrap();
        let (iterations, shift) = (outcome.iterations, outcome.number("shift"));
        println!("noise {noise_scale:e}: {iterations} iterations, shift {shift:e}");
        assert_eq!(outcome.reason, Reason::Converged);
        assert_eq!(shift > 0.0, noise_scale < 1e-5);
        assert!(iterations < 100, "{iterations} iterations");
        // Each attempt is counted.
        let attempts = outcome.entries_prepare / (256 * 256 + 256 * 512 + 188 * 700) as f64;
        assert_eq!((attempts.fract(), attempts > 1.0), (0.0, shift > 0.0));
    }
}

#[test]
fn mixed_precision_counts_iterations_of_all_corrections() {
    let problem = system(0, 9).state(common::state_of(1.0, 1.0, &[3.0, 3.0])).tolerance(1e-10);
    for limit in [1, 4, 7] {
        let settings = [
            ("steps_per_factor", 100.into()),
            ("max_iterations", limit.into()),
            ("precision", "mixed".into()),
        ];
        let outcome = problem.solve::<CholeskyMixed>(&settings).unwrap();
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Iterations, limit));
    }
}

#[test]
fn a_system_without_inputs_is_refused() {
    let a = Array2::eye(5);
    let failure = DenseProblem::new(a, Array2::ones((5, 1))).solve::<CholeskyMixed>(&[]).unwrap_err();
    assert_eq!(failure.status(), Some(Status::UNSUPPORTED));
}

#[test]
fn a_note_of_other_inputs_is_not_used() {
    let state = BTreeMap::from([("factor".to_owned(), vec![0; 12])]);
    let outcome = system(0, 1).state(state).solve::<CholeskyMixed>(&[]).unwrap();
    assert_eq!(outcome.number("factorisations"), 1.0);
}

#[test]
fn the_estimate_has_the_factor() {
    let solver = CholeskyMixed::new(Default::default()).unwrap();
    let bytes = solver.estimate(N, 2, 1);
    assert!(bytes > 4.0 * FACTOR_ENTRIES && bytes < 4.5 * FACTOR_ENTRIES);
    assert!(solver.estimate(40_000, 10, 65) < 3.5e9);
}

#[test]
fn threads_change_no_bit_of_training() {
    let solve = |threads| {
        let kept = SharedObjects::default();
        let first = system(0, 5).objects(&kept).threads(threads).solve::<CholeskyMixed>(&[]).unwrap();
        let second = system(2, 5).objects(&kept).threads(threads).state(first.state).start(first.x);
        second.solve::<CholeskyMixed>(&[]).unwrap().x
    };
    let one = solve(1);
    assert_eq!(one, solve(3));
}
