//! The tests that every solver inherits.

use gpbench_plugin_sgd::Sgd;
use gpbench_testing::{Claims, Suite};

/// Twelve steps an epoch, every third of them observed.
fn suite() -> Suite<Sgd> {
    Suite::matern32(0.5, 0.3, 3)
        .settings([("batch_size", 10.into()), ("learning_rate", 0.75.into())])
        .tolerance(1e-4)
        .claims(Claims::Estimated(3.0))
}

gpbench_testing::solver_suite! { suite() }

#[test]
fn zeros_cost_nothing() {
    suite().zeros_cost_nothing();
}

#[test]
fn a_right_hand_side_does_not_depend_on_the_others() {
    suite().columns_are_independent(50, 1e-12);
}
