//! The rules that every learner keeps.

use gpbench_plugin_sgpr::Sgpr;
use gpbench_testing::rules::{FitRequest, Tested};

/// Few inducing points, chosen like this.
fn sgpr(select: &'static str) -> Tested {
    Tested::learner::<Sgpr>().settings([("points", 15.into()), ("select", select.into())])
}

mod greedy {
    gpbench_testing::learner_rules! { super::sgpr("greedy") }
}

mod joint {
    use super::FitRequest;

    gpbench_testing::learner_rules! {
        super::sgpr("joint")
            .fit(|request| FitRequest { trained_mean: true, shared_length_scale: true, ..request })
    }
}
