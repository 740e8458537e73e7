//! Against the independent oracle, at its stated tolerances.

use gpbench_plugin_ap_accelerated::ApAccelerated;
use gpbench_sdk::Reason;
use gpbench_sdk::ndarray::{Array2, Axis};
use gpbench_testing::{DenseProblem, matern32, relative_residuals};
use gpbench_testkit::json::{self, Value, matrix, number};
use gpbench_testkit::{SmallSystem, relative_error};

const SETTINGS: [&str; 3] = ["matern32_ones", "matern32_paper", "matern32_smooth"];

/// What was computed elsewhere for the small system.
fn oracle() -> Value {
    json::parse(include_str!("data/solvers_small.json"))
}

/// A of the small system under one of its settings.
fn small_system(setting: &str) -> Array2<f64> {
    let system = SmallSystem::load();
    let given = system.setting(setting);
    matern32(&system.x_train, given.signal_scale, given.noise_scale, &given.length_scale)
}

#[test]
fn solutions_agree_with_the_exact_ones() {
    let oracle = oracle();
    let b = matrix(&oracle["b"]);
    for setting in SETTINGS {
        let a = small_system(setting);
        let problem = DenseProblem::new(a.clone(), b.clone()).tolerance(1e-11);
        // Fifteen blocks, with momentum after every fifth, and five, with momentum after each.
        for block_size in [20, 64] {
            let outcome = problem.solve::<ApAccelerated>(&[("block_size", block_size.into())]).unwrap();
            assert_eq!(outcome.reason, Reason::Converged);
            let error = relative_error(&outcome.x, &matrix(&oracle["settings"][setting]["v_exact"]));
            let truth = relative_residuals(&a, &outcome.x, &b);
            let off = outcome.claimed.iter().zip(truth).map(|(claimed, truth)| (claimed - truth).abs());
            let off = off.fold(0.0, f64::max);
            println!("{setting}, {block_size}: error {error:.1e}, claims off by {off:.1e}");
            assert!(error <= 1e-9, "{setting}, {block_size}: {error:e}");
            assert!(off <= 1e-12, "{setting}, {block_size}: claims off by {off:e}");
        }
    }
}

#[test]
fn a_solution_is_a_fixed_point() {
    let oracle = oracle();
    for setting in SETTINGS {
        let solution = matrix(&oracle["settings"][setting]["v_exact"]);
        let problem = DenseProblem::new(small_system(setting), matrix(&oracle["b"])).start(solution.clone());
        let params = [("block_size", 20.into()), ("max_iterations", 60.into())];
        let outcome = problem.solve::<ApAccelerated>(&params).unwrap();
        let error = relative_error(&outcome.x, &solution);
        println!("{setting}: after {} iterations {error:.1e}", outcome.iterations);
        assert!(error <= 1e-12, "{setting}: {error:e}");
    }
}

/// Sixty projections on contiguous blocks, the last of 44 rows: the residuals that each leaves, and where
/// they end.
#[test]
fn without_momentum_these_are_alternating_projections() {
    let oracle = oracle();
    for setting in SETTINGS {
        let expected = &oracle["settings"][setting]["ap"]["block_64"];
        let params = [
            ("block_size", (number(&expected["block_size"]) as i64).into()),
            ("partition", "contiguous".into()),
            ("memory", 0.into()),
            ("max_iterations", 60.into()),
        ];
        let problem = DenseProblem::new(small_system(setting), matrix(&oracle["b"]));
        // So few blocks that every projection is observed.
        let outcome = problem.solve::<ApAccelerated>(&params).unwrap();
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Iterations, 60));

        let norms = matrix(&expected["residual_norms"]);
        let observed: Vec<f64> = outcome.trace.iter().flat_map(|(_, norms)| norms.clone()).collect();
        let observed = Array2::from_shape_vec(norms.dim(), observed).unwrap();
        let worst = observed.axis_iter(Axis(0)).zip(norms.axis_iter(Axis(0)));
        let worst = worst.map(|(observed, norms)| relative_error(&observed, &norms)).fold(0.0, f64::max);
        let error = relative_error(&outcome.x, &matrix(&expected["v_final"]));
        println!("{setting}: residuals {worst:.1e}, final error {error:.1e}");
        assert!(worst <= 1e-10 && error <= 1e-10, "{setting}: {worst:e}, {error:e}");
    }
}
