//! The tests that every learner inherits.

use gpbench_plugin_svgp::Svgp;
use gpbench_sdk::{Activation, Covariance, Family, NetworkShape};
use gpbench_testing::{FitHost, LearnerSuite, Settings};

fn host() -> FitHost {
    FitHost::wave(70).passes(4.0)
}

fn deep(host: FitHost) -> FitHost {
    host.network(NetworkShape { activation: Activation::Relu, widths: vec![8, 8], random: None })
}

fn suite(host: FitHost, settings: Settings) -> LearnerSuite<Svgp> {
    let batch = ("batch", 16.into());
    LearnerSuite::new(host).settings([vec![batch], settings].concat())
}

mod plain {
    use super::*;

    gpbench_testing::learner_suite! { suite(host(), vec![]) }
}

mod chosen_points {
    use super::*;

    gpbench_testing::learner_suite! {
        suite(
            host().family(Family::Matern32).basis(FitHost::wave(9).x()).trained_mean().shared_length_scale(),
            vec![("optimiser", "adadelta".into()), ("sampling", "independent".into())],
        )
    }
}

mod deep_rbf {
    use super::*;

    gpbench_testing::learner_suite! {
        suite(deep(host()).shared_length_scale(), vec![("transform", "variance".into())])
    }
}

mod deep_linear {
    use super::*;

    gpbench_testing::learner_suite! { suite(deep(host()).family(Covariance::Linear), vec![("move_points", false.into())]) }
}

mod distribution_alone {
    use super::*;

    gpbench_testing::learner_suite! { suite(host().trained_mean(), vec![("train", "distribution".into())]) }
}

mod deep_distribution_alone {
    use super::*;

    gpbench_testing::learner_suite! { suite(deep(host()), vec![("train", "distribution".into())]) }
}
