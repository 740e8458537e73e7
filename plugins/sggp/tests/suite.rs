//! The tests that every learner inherits.

use gpbench_plugin_sggp::SgGp;
use gpbench_testing::{FitHost, LearnerSuite};

fn suite(grouping: &'static str) -> LearnerSuite<SgGp> {
    LearnerSuite::new(FitHost::wave(57).passes(4.0).trained_mean()).settings([
        ("batch", 20.into()),
        ("neighbours", 8.into()),
        ("grouping", grouping.into()),
    ])
}

mod neighbours {
    gpbench_testing::learner_suite! { super::suite("neighbours") }
}

mod uniform {
    gpbench_testing::learner_suite! { super::suite("uniform") }
}
