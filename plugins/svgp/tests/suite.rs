//! The rules that every learner keeps.

use gpbench_plugin_svgp::Svgp;
use gpbench_sdk::ndarray::s;
use gpbench_sdk::{Activation, Covariance, Family, NetworkShape};
use gpbench_testing::Settings;
use gpbench_testing::rules::{FitRequest, Tested};

/// A learner with these parameters.
fn svgp(settings: Settings) -> Tested {
    Tested::learner::<Svgp>().settings(settings)
}

/// A fit with a stationary kernel on a network.
fn deep(request: FitRequest) -> FitRequest {
    let network = NetworkShape { activation: Activation::Relu, widths: vec![8, 8], random: None };
    FitRequest { network: Some(network), covariance: Family::Rbf.into(), ..request }
}

mod plain {
    use super::*;

    gpbench_testing::learner_rules! { svgp(vec![]) }
}

mod chosen_points {
    use super::*;

    gpbench_testing::learner_rules! {
        svgp(vec![("optimiser", "adadelta".into()), ("sampling", "independent".into())])
            .fit(|request| {
                let points = s![..request.x.nrows().min(9), ..];
                let basis = Some(request.x.slice(points).to_owned());
                FitRequest { basis, trained_mean: true, shared_length_scale: true, ..request }
            })
            .except("learns", "AdaDelta begins with small steps")
    }
}

mod deep_rbf {
    use super::*;

    gpbench_testing::learner_rules! {
        svgp(vec![("transform", "variance".into())])
            .fit(|request| FitRequest { shared_length_scale: true, ..deep(request) })
    }
}

mod deep_linear {
    use super::*;

    gpbench_testing::learner_rules! {
        svgp(vec![("move_points", false.into())])
            .fit(|request| FitRequest { covariance: Covariance::Linear, ..deep(request) })
    }
}

mod distribution_alone {
    use super::*;

    gpbench_testing::learner_rules! {
        svgp(vec![("train", "distribution".into())])
            .fit(|request| FitRequest { trained_mean: true, ..request })
    }
}

mod deep_distribution_alone {
    use super::*;

    gpbench_testing::learner_rules! { svgp(vec![("train", "distribution".into())]).fit(deep) }
}
