//! The rules that every learner keeps.

use gpbench_plugin_sggp::SgGp;
use gpbench_testing::rules::{FitRequest, Tested};

fn sggp(grouping: &'static str) -> Tested {
    Tested::learner::<SgGp>()
        .settings([("neighbours", 8.into()), ("grouping", grouping.into())])
        .fit(|request| FitRequest { trained_mean: true, ..request })
        .except("objective", "neighbourhoods of 8 rows do not contain all 12")
}

mod neighbours {
    gpbench_testing::learner_rules! { super::sggp("neighbours") }
}

mod uniform {
    gpbench_testing::learner_rules! { super::sggp("uniform") }
}
