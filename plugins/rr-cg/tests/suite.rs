//! The tests that every solver inherits.

use gpbench_plugin_rr_cg::RrCg;
use gpbench_sdk::Reason;
use gpbench_testing::Suite;

/// P(J) ~ exp(-0.2 J), J = 5, ..., n. A steep distribution ends at its smallest J.
fn suite() -> Suite<RrCg> {
    Suite::matern32(0.5, 0.3, 3)
        .settings([("lambda", 0.2.into()), ("min_iterations", 5.into())])
        .limit(|count| vec![("lambda", 100.0.into()), ("min_iterations", count.into())])
        .ends_with(Reason::Iterations)
}

gpbench_testing::solver_suite! { without convergence: suite() }

#[test]
fn a_right_hand_side_does_not_depend_on_the_others() {
    suite().columns_are_independent(8, 1e-11);
}
