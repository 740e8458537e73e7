//! The rules that every solver keeps.

use gpbench_plugin_rr_cg::RrCg;
use gpbench_sdk::Reason;
use gpbench_testing::DenseProblem;
use gpbench_testing::behaviour::columns_are_independent;
use gpbench_testing::rules::Tested;

// P(J) ~ exp(-0.2 J), J = 5, ..., n. A steep distribution ends at its smallest J.
gpbench_testing::solver_rules! {
    Tested::solver::<RrCg>()
        .settings([("lambda", 0.2.into()), ("min_iterations", 5.into())])
        .limit(|count| vec![("lambda", 100.0.into()), ("min_iterations", count.into())])
        .ends_with(Reason::Iterations)
}

#[test]
fn a_right_hand_side_does_not_depend_on_the_others() {
    let eight = [("lambda", 100.0.into()), ("min_iterations", 8.into())];
    columns_are_independent::<RrCg>(&DenseProblem::scattered(0.5, 0.3, 3), &eight, 1e-11);
}
