//! The rules that every learner keeps.

use gpbench_plugin_poe::Poe;
use gpbench_testing::rules::{FitRequest, Tested};

gpbench_testing::learner_rules! {
    Tested::learner::<Poe>()
        .settings([("points", 10.into())])
        .fit(|request| FitRequest { trained_mean: true, ..request })
}
