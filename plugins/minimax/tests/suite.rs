//! The rules that every learner keeps, with a linear kernel on a network, random features of a network, and those of the inputs.

use gpbench_plugin_minimax::Minimax;
use gpbench_sdk::{Covariance, Family};
use gpbench_testing::rules::{FitRequest, Tested};

mod linear {
    use super::*;

    gpbench_testing::learner_rules! {
        Tested::learner::<Minimax>().fit(|request| request.on_network(Covariance::Linear, None))
    }
}

mod random {
    use super::*;

    gpbench_testing::learner_rules! {
        Tested::learner::<Minimax>()
            .settings([("sampling", "independent".into()), ("mu", 5.0.into())])
            .fit(|request| FitRequest {
                trained_mean: true,
                ..request.on_network(Covariance::Stationary(Family::Rbf), Some(12))
            })
    }
}

mod inputs {
    use super::*;

    gpbench_testing::learner_rules! {
        Tested::learner::<Minimax>()
            .settings([("features", 30.into()), ("monitor", 2.into())])
            .fit(|request| FitRequest {
                covariance: Covariance::Stationary(Family::Rbf),
                network: None,
                shared_length_scale: false,
                ..request
            })
    }
}
