//! The tests that every learner inherits.

use gpbench_plugin_poe::Poe;
use gpbench_testing::{FitHost, LearnerSuite};

gpbench_testing::learner_suite! {
    LearnerSuite::<Poe>::new(FitHost::wave(57).passes(4.0).trained_mean()).settings([("points", 10.into())])
}
