//! The rules that every solver keeps.

use gpbench_plugin_eigenpro::EigenPro;
use gpbench_testing::behaviour::columns_are_independent;
use gpbench_testing::rules::{Claims, Tested};
use gpbench_testing::{DenseProblem, Settings};

fn tested(settings: Settings) -> Tested {
    Tested::solver::<EigenPro>().settings(settings).claims(Claims::Reported(1e-12))
}

/// The systems of the rules are so small that by default no eigenvector is damped.
fn three_damped() -> Settings {
    vec![("subset_size", 20.into()), ("rank", 3.into())]
}

mod defaults {
    gpbench_testing::solver_rules! { super::tested(gpbench_testing::Settings::default()) }
}

mod damped {
    gpbench_testing::solver_rules! { super::tested(super::three_damped()) }
}

#[test]
fn a_right_hand_side_does_not_depend_on_the_others() {
    let fifty: Settings = vec![("max_iterations", 50.into())];
    columns_are_independent::<EigenPro>(&DenseProblem::scattered(0.3, 0.5, 3), &fifty, 1e-11);
}
