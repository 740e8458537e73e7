//! The tests that every solver inherits, and the rules that it has to keep.

use gpbench_plugin_cg::Cg;
use gpbench_testing::Suite;
use gpbench_testing::rules::Tested;

gpbench_testing::solver_suite! { Suite::<Cg>::matern32(0.3, 0.5, 20) }

mod rules {
    use super::*;

    gpbench_testing::solver_rules! { Tested::solver::<Cg>() }
}
