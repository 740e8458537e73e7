//! The tests that every solver inherits.

use gpbench_plugin_ap_accelerated::ApAccelerated;
use gpbench_testing::{Claims, Suite};

// Twelve blocks; every third projection is observed, and momentum follows every fourth.
gpbench_testing::solver_suite! {
    Suite::<ApAccelerated>::matern32(0.3, 0.5, 10)
        .settings([("block_size", 10.into())])
        .claims(Claims::Observed(1e-12))
}
