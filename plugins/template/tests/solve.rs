//! Solves in the host that runs cases.

use gpbench_sdk::Reason;
use gpbench_template::SteepestDescent;
use gpbench_testing::DenseProblem;
use gpbench_testing::behaviour::zeros_cost_nothing;
use gpbench_testing::rules::Tested;

// The rules that every solver keeps: claims, tolerance, budget, warm starts, threads, seeds, zeros, NaN.
gpbench_testing::solver_rules! { Tested::solver::<SteepestDescent>() }

/// A system for tests of this solver alone.
fn problem() -> DenseProblem {
    DenseProblem::scattered(0.5, 0.3, 3).tolerance(1e-4)
}

#[test]
fn an_iteration_is_an_epoch_and_the_start_at_zero_costs_nothing() {
    let outcome = problem().solve::<SteepestDescent>(&[]).unwrap();
    assert_eq!(outcome.entries, outcome.iterations as f64 * 120.0 * 120.0);
    zeros_cost_nothing::<SteepestDescent>(&problem(), &[]);
}

#[test]
fn a_warm_start_goes_on() {
    let whole = problem().solve::<SteepestDescent>(&[]).unwrap();
    let half = whole.iterations / 2;
    let first = problem().solve::<SteepestDescent>(&[("max_iterations", half.into())]).unwrap();
    assert_eq!((first.reason, first.iterations), (Reason::Iterations, half));
    let second = problem().start(first.x).solve::<SteepestDescent>(&[]).unwrap();
    assert_eq!(second.reason, Reason::Converged);
    assert!(second.iterations < whole.iterations, "{} of {}", second.iterations, whole.iterations);
}
