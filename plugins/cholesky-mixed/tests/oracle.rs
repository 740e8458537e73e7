//! Against the independent oracle, at its stated tolerances.

use gpbench_plugin_cholesky_mixed::CholeskyMixed;
use gpbench_sdk::Reason;
use gpbench_testing::DenseProblem;
use gpbench_testkit::json::{self, matrix};
use gpbench_testkit::{SmallSystem, relative_error};

/// The exact solution in both precisions, within a few iterations.
#[test]
fn solutions() {
    let oracle = json::parse(include_str!("data/solvers_small.json"));
    let (system, b) = (SmallSystem::load(), matrix(&oracle["b"]));
    for setting in ["matern32_ones", "matern32_paper", "matern32_smooth"] {
        let given = system.setting(setting);
        let expected = matrix(&oracle["settings"][setting]["v_exact"]);
        let (x, length_scale) = (&system.x_train, &given.length_scale);
        let problem = DenseProblem::matern32(x, given.signal_scale, given.noise_scale, length_scale, &b);
        for precision in ["double", "mixed"] {
            let params = [("precision", precision.into())];
            let quick = problem.clone().tolerance(0.01).solve::<CholeskyMixed>(&params).unwrap();
            let outcome = problem.clone().tolerance(1e-12).solve::<CholeskyMixed>(&params).unwrap();
            assert_eq!((quick.reason, outcome.reason), (Reason::Converged, Reason::Converged));
            assert!(quick.iterations <= 2, "{setting}, {precision}: {} iterations", quick.iterations);
            let error = relative_error(&outcome.x, &expected);
            assert!(error < 1e-9, "{setting}, {precision}: error {error:e}");
        }
    }
}
