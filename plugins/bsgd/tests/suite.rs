//! The rules that every learner keeps, with a linear kernel on a network, a stationary one on a network, and one on the inputs.

use gpbench_plugin_bsgd::Bsgd;
use gpbench_sdk::{Activation, Covariance, Family, NetworkShape};
use gpbench_testing::rules::{FitRequest, Tested};

/// A fit on the outputs of a network, with `random` of random features.
fn on_network(request: FitRequest, covariance: Covariance, random: Option<usize>) -> FitRequest {
    let network = NetworkShape { activation: Activation::Relu, widths: vec![9, 7], random };
    FitRequest { covariance, network: Some(network), ..request }
}

mod linear {
    use super::*;

    gpbench_testing::learner_rules! {
        Tested::learner::<Bsgd>().fit(|request| on_network(request, Covariance::Linear, None))
    }
}

mod stationary {
    use super::*;

    gpbench_testing::learner_rules! {
        Tested::learner::<Bsgd>()
            .settings([("sampling", "independent".into())])
            .fit(|request| FitRequest {
                trained_mean: true,
                ..on_network(request, Covariance::Stationary(Family::Rbf), Some(12))
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
