//! The tests that every solver inherits.

use gpbench_plugin_cg::Cg;
use gpbench_testing::Suite;

gpbench_testing::solver_suite! { Suite::<Cg>::matern32(0.3, 0.5, 20) }
