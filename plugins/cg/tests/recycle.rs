//! Ritz vectors kept from step to step.

use gpbench_plugin_cg::Cg;
use gpbench_sdk::{ParamValue, Reason};
use gpbench_testing::{DenseProblem, Outcome, scattered_inputs, scattered_right_hand_sides};

const N: usize = 300;

/// The system of an outer step with these scales.
fn system(noise_scale: f64, length_scale: f64) -> DenseProblem {
    let lengths = [length_scale, length_scale];
    let (x, b) = (scattered_inputs(N), scattered_right_hand_sides(N, 5));
    DenseProblem::matern32(&x, 1.0, noise_scale, &lengths, &b).tolerance(1e-4)
}

fn solve(problem: &DenseProblem, preconditioner: &'static str, recycle: i64) -> Outcome {
    let params: [(&str, ParamValue); 3] =
        [("preconditioner", preconditioner.into()), ("rank", 10.into()), ("recycle", recycle.into())];
    problem.solve::<Cg>(&params).unwrap()
}

#[test]
fn vectors_of_one_step_save_iterations_in_the_next() {
    for preconditioner in ["none", "pivoted_cholesky"] {
        let first = solve(&system(0.1, 0.6), preconditioner, 15);
        assert_eq!(first.reason, Reason::Converged);
        assert_eq!(first.state["ritz-vectors"].len(), 8 * N * 15);

        let next = system(0.098, 0.61);
        let plain = solve(&next, preconditioner, 0);
        let recycled = solve(&next.clone().state(first.state), preconditioner, 15);
        assert_eq!(recycled.reason, Reason::Converged);
        let (fewer, all) = (recycled.iterations, plain.iterations);
        assert!(5 * fewer < 4 * all, "{preconditioner}: {fewer} iterations instead of {all}");
        // A product for the vectors, and one an iteration.
        assert_eq!(recycled.entries - recycled.entries_prepare, (1 + fewer) as f64 * (N * N) as f64);
        for (claimed, truth) in recycled.claimed.iter().zip(next.residuals(&recycled.x)) {
            assert!((claimed - truth).abs() < 1e-10, "{claimed} against {truth}");
        }
    }
}

#[test]
fn a_warm_start_and_the_vectors_share_their_product() {
    let first = solve(&system(0.1, 0.6), "none", 10);
    let next = system(0.1, 0.6).start(first.x).state(first.state);
    let again = solve(&next, "none", 10);
    assert_eq!((again.reason, again.iterations), (Reason::Converged, 0));
    assert_eq!(again.entries, (N * N) as f64);
}

#[test]
fn in_mixed_precision_the_vectors_have_no_product_of_their_own() {
    let params: [(&str, ParamValue); 2] = [("recycle", 10.into()), ("precision", "mixed".into())];
    let first = system(0.1, 0.6).solve::<Cg>(&params).unwrap();
    let next = system(0.098, 0.61).start(first.x).state(first.state);
    let outcome = next.solve::<Cg>(&params).unwrap();
    assert_eq!(outcome.reason, Reason::Converged);
    assert_eq!(outcome.number("recycled_vectors"), 10.0);
    let products = outcome.entries / (N * N) as f64 - outcome.iterations as f64;
    // The start's, with the vectors, and one in double precision for each correction.
    assert!((2.0..=3.0).contains(&products), "{products}");
}

#[test]
fn vectors_that_do_not_fit_are_left_out() {
    let first = solve(&system(0.1, 0.6), "none", 10);
    let rows = 1 + 8 * N;
    for bytes in [vec![0; 8 * N], vec![0xff; 8 * N], vec![1; rows], first.state["ritz-vectors"][8..].to_vec()]
    {
        let state = [("ritz-vectors".to_owned(), bytes)].into();
        let outcome = solve(&system(0.1, 0.6).state(state), "none", 10);
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Converged, first.iterations));
    }
}

#[test]
fn a_solve_that_its_budget_ends_leaves_vectors() {
    let stopped = solve(&system(0.1, 0.6).max_epochs(4.0), "none", 3);
    assert_eq!(stopped.reason, Reason::Stopped);
    assert_eq!(stopped.state["ritz-vectors"].len(), 8 * N * 3);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let outcome = |threads| {
        let first = solve(&system(0.1, 0.6).threads(threads), "pivoted_cholesky", 10);
        solve(&system(0.12, 0.6).threads(threads).state(first.state), "pivoted_cholesky", 10)
    };
    assert_eq!(outcome(1).x, outcome(3).x);
    assert_eq!(outcome(1).state, outcome(3).state);
}
