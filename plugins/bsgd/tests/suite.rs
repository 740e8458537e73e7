//! The rules that every learner keeps, with a linear kernel on a network, a stationary one on a network, and one on the inputs.

use gpbench_plugin_bsgd::Bsgd;
use gpbench_sdk::{Covariance, Family};
use gpbench_testing::rules::{FitRequest, Tested};

mod linear {
    use super::*;

    gpbench_testing::learner_rules! {
        Tested::learner::<Bsgd>().fit(|request| request.on_network(Covariance::Linear, None))
    }
}

mod stationary {
    use super::*;

    gpbench_testing::learner_rules! {
        Tested::learner::<Bsgd>()
            .settings([("sampling", "independent".into())])
            .fit(|request| FitRequest {
                trained_mean: true,
                ..request.on_network(Covariance::Stationary(Family::Rbf), Some(12))
            })
    }
}

mod inputs {
    use super::*;

    gpbench_testing::learner_rules! {
        Tested::learner::<Bsgd>()
            .fit(|request| FitRequest {
                covariance: Covariance::Stationary(Family::Rbf),
                network: None,
                shared_length_scale: false,
                ..request
            })
    }
}
