//! The rules that every solver keeps.

use crate::common;
use gpbench_plugin_cholesky_mixed::CholeskyMixed;
use gpbench_testing::rules::Tested;

mod with_a_new_factor {
    use super::*;

    gpbench_testing::solver_rules! { Tested::solver::<CholeskyMixed>() }
}

mod in_mixed_precision {
    use super::*;

    gpbench_testing::solver_rules! {
        Tested::solver::<CholeskyMixed>()
            .settings([("precision", "mixed".into())])
            .except("claims", "the residual is computed anew in double precision after the last observation")
            .except("warm-start", "a second product certifies a start that seems to be the solution")
    }
}

/// The factor belongs to hyperparameters that are far from those of the systems.
mod with_an_old_factor {
    use super::*;

    gpbench_testing::solver_rules! {
        Tested::solver::<CholeskyMixed>()
            .settings([("steps_per_factor", 100.into())])
            .state(common::state_of(1.0, 0.5, &[0.9; 3]))
    }
}
