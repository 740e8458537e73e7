//! The tests that every solver inherits.

use gpbench_plugin_block_cg::BlockCg;
use gpbench_testing::Suite;

mod preconditioned {
    use super::*;

    gpbench_testing::solver_suite! { Suite::<BlockCg>::matern32(0.3, 0.5, 9) }
}

mod plain {
    use super::*;

    gpbench_testing::solver_suite! {
        Suite::<BlockCg>::matern32(0.3, 0.5, 9).settings([("preconditioner", "none".into())]).randomized(false)
    }
}
