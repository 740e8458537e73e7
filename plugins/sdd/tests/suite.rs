//! The rules that every solver keeps.

use gpbench_plugin_sdd::Sdd;
use gpbench_testing::behaviour::{columns_are_independent, zeros_cost_nothing};
use gpbench_testing::rules::{Claims, Tested};
use gpbench_testing::{DenseProblem, Settings};

/// Batches of ten rows.
fn settings() -> Settings {
    vec![("batch_size", 10.into()), ("learning_rate", 1.0.into()), ("averaging", 0.1.into())]
}

gpbench_testing::solver_rules! {
    Tested::solver::<Sdd>()
        .settings(settings())
        .claims(Claims::Reported(1e-12))
        .except("one-row", "a learning rate for many rows diverges on a single one")
}

#[test]
fn zeros_are_solved_without_a_kernel_entry() {
    zeros_cost_nothing::<Sdd>(&DenseProblem::scattered(0.5, 0.3, 3), &settings());
}

#[test]
fn a_right_hand_side_does_not_depend_on_the_others() {
    let fifty = [settings(), vec![("max_iterations", 50.into())]].concat();
    columns_are_independent::<Sdd>(&DenseProblem::scattered(0.5, 0.3, 3), &fifty, 1e-12);
}
