//! The rules that every solver keeps. Their systems have no inducing points, so that a step solves them.

use gpbench_plugin_falkon::Falkon;
use gpbench_testing::behaviour::columns_are_independent;
use gpbench_testing::rules::Tested;
use gpbench_testing::{DenseProblem, Settings};

gpbench_testing::solver_rules! { Tested::solver::<Falkon>() }

#[test]
fn a_right_hand_side_does_not_depend_on_the_others() {
    let settings: Settings = vec![("max_iterations", 3.into())];
    columns_are_independent::<Falkon>(&DenseProblem::scattered(0.3, 0.5, 3), &settings, 1e-9);
}
