//! The rules that every solver keeps.

use gpbench_plugin_ap::Ap;
use gpbench_testing::rules::Tested;

gpbench_testing::solver_rules! { Tested::solver::<Ap>().settings([("block_size", 10.into())]) }
