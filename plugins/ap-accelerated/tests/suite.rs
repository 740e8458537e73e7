//! The rules that every solver keeps.

use gpbench_plugin_ap_accelerated::ApAccelerated;
use gpbench_testing::rules::{Claims, Tested};

// Momentum follows every fourth projection.
gpbench_testing::solver_rules! {
    Tested::solver::<ApAccelerated>().settings([("block_size", 10.into())]).claims(Claims::Observed(1e-12))
}
