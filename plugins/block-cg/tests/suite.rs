//! The rules that every solver keeps.

use gpbench_plugin_block_cg::BlockCg;
use gpbench_testing::rules::Tested;

mod preconditioned {
    use super::*;

    gpbench_testing::solver_rules! { Tested::solver::<BlockCg>() }
}

mod plain {
    use super::*;

    gpbench_testing::solver_rules! {
        Tested::solver::<BlockCg>().settings([("preconditioner", "none".into())]).randomized(false)
    }
}

mod automatic_rank {
    use super::*;

    gpbench_testing::solver_rules! { Tested::solver::<BlockCg>().settings([("rank", "auto".into())]) }
}
