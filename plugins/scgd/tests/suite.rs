//! The rules that every learner keeps, with a linear kernel on a network, random features of a network, and those of
//! the inputs, by the whole average and by recent batches.

use gpbench_plugin_scgd::Scgd;
use gpbench_sdk::{Covariance, Family};
use gpbench_testing::rules::{FitRequest, Tested};

mod linear {
    use super::*;

    gpbench_testing::learner_rules! {
        Tested::learner::<Scgd>().fit(|request| request.on_network(Covariance::Linear, None))
    }
}

mod random {
    use super::*;

    gpbench_testing::learner_rules! {
        Tested::learner::<Scgd>()
            .settings([("sampling", "independent".into()), ("decay", true.into())])
            .fit(|request| FitRequest {
                trained_mean: true,
                ..request.on_network(Covariance::Stationary(Family::Rbf), Some(12))
            })
    }
}

mod inputs {
    use super::*;

    gpbench_testing::learner_rules! {
        Tested::learner::<Scgd>()
            .settings([("features", 30.into()), ("order", "step-first".into())])
            .fit(|request| FitRequest {
                covariance: Covariance::Stationary(Family::Rbf),
                network: None,
                shared_length_scale: false,
                ..request
            })
    }
}

mod recent {
    use super::*;

    // All but four batches are forgotten.
    gpbench_testing::learner_rules! {
        Tested::learner::<Scgd>()
            .settings([("features", 200.into()), ("average", 0.99999.into())])
            .fit(|request| FitRequest {
                covariance: Covariance::Stationary(Family::Rbf),
                network: None,
                shared_length_scale: false,
                ..request
            })
    }
}
