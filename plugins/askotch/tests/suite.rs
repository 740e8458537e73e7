//! The rules that every solver keeps.

use gpbench_plugin_askotch::Askotch;
use gpbench_sdk::ParamValue;
use gpbench_testing::behaviour::columns_are_independent;
use gpbench_testing::rules::{Claims, Tested};
use gpbench_testing::{DenseProblem, Settings};

/// Blocks of ten rows, solved like this. With the noise of the rules' systems the default mu would switch momentum off.
fn blocks(solver: &str) -> Settings {
    vec![("block_size", 10.into()), ("block_solver", solver.into()), ("rank", 4.into()), ("mu", 0.05.into())]
}

/// As `blocks`, with one more parameter.
fn and(solver: &str, name: &'static str, value: impl Into<ParamValue>) -> Settings {
    [blocks(solver), vec![(name, value.into())]].concat()
}

fn tested(settings: Settings) -> Tested {
    Tested::solver::<Askotch>().settings(settings).claims(Claims::Observed(1e-12))
}

mod nystrom {
    gpbench_testing::solver_rules! { super::tested(super::blocks("nystrom")) }
}

mod exact {
    gpbench_testing::solver_rules! { super::tested(super::blocks("exact")) }
}

mod identity {
    gpbench_testing::solver_rules! { super::tested(super::blocks("identity")) }
}

mod plain {
    gpbench_testing::solver_rules! { super::tested(super::and("exact", "momentum", "none")) }
}

mod leverage {
    gpbench_testing::solver_rules! { super::tested(super::and("exact", "sampling", "leverage")) }
}

#[test]
fn a_right_hand_side_does_not_depend_on_the_others() {
    let fifty = and("nystrom", "max_iterations", 50);
    columns_are_independent::<Askotch>(&DenseProblem::scattered(0.3, 0.5, 3), &fifty, 1e-11);
}
