//! The tests that every solver inherits.

use gpbench_plugin_ap::Ap;
use gpbench_testing::Suite;

// Twelve blocks; every third projection is observed.
gpbench_testing::solver_suite! { Suite::<Ap>::matern32(0.3, 0.5, 20).settings([("block_size", 10.into())]) }
