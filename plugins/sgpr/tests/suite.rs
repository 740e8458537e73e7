//! The rules that every learner keeps.

use gpbench_plugin_sgpr::Sgpr;
use gpbench_testing::rules::{FitRequest, Tested};

/// Few inducing points, used like this.
fn sgpr(select: &'static str) -> Tested {
    Tested::learner::<Sgpr>().settings([("points", 15.into()), ("select", select.into())])
}

/// Points of its own choice.
fn chosen(request: FitRequest) -> FitRequest {
    FitRequest { basis: None, ..request }
}

mod greedy {
    gpbench_testing::learner_rules! { super::sgpr("greedy").fit(super::chosen) }
}

mod joint {
    use super::{FitRequest, chosen};

    gpbench_testing::learner_rules! {
        super::sgpr("joint")
            .fit(|request| FitRequest { trained_mean: true, shared_length_scale: true, ..chosen(request) })
    }
}

mod given {
    gpbench_testing::learner_rules! { super::sgpr("joint") }
}
