//! Costs, warm starts, degenerate points: what has to hold whatever the numbers.

use gpbench_plugin_falkon::Falkon;
use gpbench_sdk::Reason;
use gpbench_sdk::ndarray::{Array2, ShapeBuilder};
use gpbench_testing::DenseProblem;
use gpbench_testkit::assert_close;

use crate::given::Given;

const N: usize = 300;
const M: usize = 25;

fn given() -> Given {
    Given::scattered(N, M)
}

#[test]
fn an_iteration_costs_one_product_forward_and_back() {
    let problem = given().problem().tolerance(1e-8);
    let outcome = problem.solve::<Falkon>(&[("max_iterations", 0.into())]).unwrap();
    assert_eq!((outcome.reason, outcome.entries_prepare), (Reason::Converged, (M * M) as f64));
    // The right-hand sides, the iterations, and the residual anew before each tenth of them.
    let products = 1 + outcome.iterations as usize + (outcome.iterations as usize - 1) / 10;
    assert_eq!(outcome.entries, (M * M + products * N * M) as f64);
    assert_eq!(outcome.trace.len() as i64, outcome.iterations + 1);
}

#[test]
fn claimed_norms_are_those_of_the_normal_equations() {
    let problem = given().problem();
    for steps in [1, 4, 10, 13] {
        let outcome = problem.solve::<Falkon>(&[("max_iterations", steps.into())]).unwrap();
        let truth = given().residuals(&outcome.x);
        for (claimed, truth) in outcome.claimed.iter().zip(&truth) {
            assert!((claimed - truth).abs() < 1e-9, "{steps}: {claimed} against {truth}");
        }
    }
    let outcome = problem.clone().solve::<Falkon>(&[("max_iterations", 1.into())]).unwrap();
    assert!(outcome.trace[0].1.iter().all(|norm| (norm - 1.0).abs() < 1e-14), "{:?}", outcome.trace[0]);
}

#[test]
fn a_warm_start_leads_to_the_same() {
    let problem = given().problem().tolerance(1e-10);
    let cold = problem.solve::<Falkon>(&[("max_iterations", 0.into())]).unwrap();
    let start = Array2::from_shape_fn((M, 3).f(), |(i, j)| ((i + 5 * j) as f64).sin());
    let warm = problem.clone().start(start).solve::<Falkon>(&[("max_iterations", 0.into())]).unwrap();
    assert_eq!(warm.reason, Reason::Converged);
    let predicted = |a: &Array2<f64>| given().gram(&given().x, &given().z).dot(a);
    assert_close(&predicted(&warm.x), &predicted(&cold.x), 1e-7);

    let again = problem.clone().tolerance(1e-8).start(cold.x.clone()).solve::<Falkon>(&[]).unwrap();
    assert_eq!((again.reason, again.iterations), (Reason::Converged, 0));
    assert_eq!(again.x, cold.x);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for problem in [Given::scattered(1100, 150).problem(), given().square()] {
        let x = |threads| problem.clone().threads(threads).solve::<Falkon>(&[]).unwrap().x;
        assert_eq!(x(1), x(2));
        assert_eq!(x(1), x(7));
    }
}

#[test]
fn repeated_points_need_jitter_and_are_solved() {
    let z = given().z;
    let twice = Array2::from_shape_fn((2 * M, 2), |(i, j)| z[[i / 2, j]]);
    let outcome = Given { z: twice.clone(), ..given() }
        .problem()
        .tolerance(1e-8)
        .solve::<Falkon>(&[("jitter", 0.0.into()), ("max_iterations", 200.into())])
        .unwrap();
    assert_eq!(outcome.reason, Reason::Converged);
    assert!(outcome.number("jitter") > 0.0);
    let once = given().problem().tolerance(1e-8).solve::<Falkon>(&[]).unwrap();
    let given = given();
    let predicted = |z: &Array2<f64>, a: &Array2<f64>| given.gram(&given.x, z).dot(a);
    assert_close(&predicted(&twice, &outcome.x), &predicted(&z, &once.x), 1e-5);
}

#[test]
fn a_zero_right_hand_side_has_zero_weights() {
    let mut given = given();
    given.b.column_mut(1).fill(0.0);
    let start = Array2::from_elem((M, 3), 1.0);
    let problem = given.problem().tolerance(1e-8).start(start);
    let outcome = problem.solve::<Falkon>(&[("max_iterations", 0.into())]).unwrap();
    assert_eq!(outcome.reason, Reason::Converged);
    assert!(outcome.x.column(1).iter().all(|&x| x == 0.0));
    assert_eq!(outcome.claimed[1], 0.0);
}

#[test]
fn a_spent_budget_leaves_the_iterate() {
    let problem = given().problem().max_epochs(0.5);
    let outcome = problem.solve::<Falkon>(&[]).unwrap();
    assert_eq!(outcome.reason, Reason::Stopped);
    let steps = [("max_iterations", outcome.iterations.into())];
    assert_eq!(outcome.x, given().problem().solve::<Falkon>(&steps).unwrap().x);
    assert!(outcome.entries <= 0.5 * (N * N) as f64);
}

#[test]
fn a_system_that_is_neither_is_refused() {
    let given = given();
    let cross = given.gram(&given.x, &given.z);
    let problem = DenseProblem::new(cross, given.b.clone());
    let problem = problem.kernel(given.family, given.x.clone(), 1.0, 0.1, vec![1.0; 2]);
    assert!(problem.solve::<Falkon>(&[]).unwrap_err().to_string().contains("not square"));
}

/// Rows of one input, each four times, beside an input that is constant, and the different rows as points: the
/// preconditioner is then the inverse.
#[test]
fn degenerate_inputs_are_solved_in_one_step() {
    let problem = |d: usize| {
        let at = |i: usize, j: usize| if j == 0 { i as f64 / 5.0 } else { 3.0 };
        let x = Array2::from_shape_fn((60, d), |(i, j)| at(i / 4, j));
        let z = Array2::from_shape_fn((15, d), |(i, j)| at(i, j));
        let mut given = Given::scattered(60, 15);
        given.kernel.length_scale = vec![0.5; d];
        Given { x, z, ..given }.problem().tolerance(1e-6)
    };
    let [one, two] = [1, 2].map(|d| problem(d).solve::<Falkon>(&[]).unwrap());
    for outcome in [&one, &two] {
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Converged, 1));
    }
    assert_close(&two.x, &one.x, 1e-5);
}
