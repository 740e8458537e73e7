//! The rules that every learner keeps.

use gpbench_plugin_cagp::Cagp;
use gpbench_sdk::ParamValue;
use gpbench_testing::rules::{FitRequest, Tested};

fn cagp(settings: &[(&'static str, ParamValue)]) -> Tested {
    Tested::learner::<Cagp>().settings(settings.to_vec())
}

mod sparse {
    gpbench_testing::learner_rules! { super::cagp(&[]) }
}

mod conjugate_gradients {
    use super::FitRequest;

    gpbench_testing::learner_rules! {
        super::cagp(&[("policy", "cg".into()), ("actions", 6.into())])
            .randomized(false)
            .fit(|request| FitRequest { trained_mean: true, shared_length_scale: true, ..request })
    }
}
