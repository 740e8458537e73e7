//! The rules that every solver keeps.

use gpbench_plugin_cg::Cg;
use gpbench_testing::rules::Tested;

gpbench_testing::solver_rules! { Tested::solver::<Cg>() }
