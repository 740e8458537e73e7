//! Against the independent oracle, at its stated tolerances.

use gpbench_plugin_block_cg::BlockCg;
use gpbench_sdk::Reason;
use gpbench_testing::DenseProblem;
use gpbench_testkit::json::{self, matrix, number};
use gpbench_testkit::{SmallSystem, relative_error};

const PRECONDITIONERS: [&str; 4] = ["none", "pivoted_cholesky", "rp_cholesky", "nystrom"];

/// The exact solution under every setting, and never more iterations than conjugate gradients.
#[test]
fn solutions() {
    let oracle = json::parse(include_str!("data/solvers_small.json"));
    let (system, b) = (SmallSystem::load(), matrix(&oracle["b"]));
    for setting in ["matern32_ones", "matern32_paper", "matern32_smooth"] {
        let given = system.setting(setting);
        let expected = &oracle["settings"][setting];
        let (x, length_scale) = (&system.x_train, &given.length_scale);
        let problem = DenseProblem::matern32(x, given.signal_scale, given.noise_scale, length_scale, &b);
        for preconditioner in PRECONDITIONERS {
            let params = [("preconditioner", preconditioner.into()), ("rank", 50.into())];
            let quick = problem.clone().tolerance(0.01).solve::<BlockCg>(&params).unwrap();
            let outcome = problem.clone().tolerance(1e-12).solve::<BlockCg>(&params).unwrap();
            assert_eq!((quick.reason, outcome.reason), (Reason::Converged, Reason::Converged));
            let error = relative_error(&outcome.x, &matrix(&expected["v_exact"]));
            let (iterations, final_one) = (quick.iterations, outcome.iterations);
            let plain = number(&expected["cg"]["iterations_to_0p01"]["float64"]);
            println!(
                "{setting}, {preconditioner}: {iterations} iterations to 0.01 ({plain} by cg), \
                 {final_one} to 1e-12, error {error:.1e}"
            );
            assert!(error < 1e-9, "{setting}, {preconditioner}: error {error:e}");
            assert!(iterations as f64 <= plain, "{setting}, {preconditioner}: {iterations} iterations");
        }
    }
}
