//! The rules that every learner keeps.

use gpbench_plugin_vecchia::Vecchia;
use gpbench_sdk::ParamValue;
use gpbench_testing::rules::{FitRequest, Tested};

fn vecchia(settings: &[(&'static str, ParamValue)]) -> Tested {
    Tested::learner::<Vecchia>()
        .settings(settings.to_vec())
        .fit(|request| FitRequest { trained_mean: true, ..request })
}

/// Inducing points and minibatches exclude each other.
const PARAMETERS: &str = "`inducing` needs `optimiser = \"lbfgs\"`";

mod lbfgs {
    gpbench_testing::learner_rules! {
        super::vecchia(&[("neighbours", 12.into())])
    }
}

mod adam {
    gpbench_testing::learner_rules! {
        super::vecchia(&[("optimiser", "adam".into()), ("order", "random".into()), ("neighbours", 12.into())])
            .except("parameters", super::PARAMETERS)
    }
}

mod beside_inducing_points {
    gpbench_testing::learner_rules! {
        super::vecchia(&[("inducing", 6.into()), ("neighbours", 5.into())])
            .except("parameters", super::PARAMETERS)
    }
}

mod exact_predictions {
    gpbench_testing::learner_rules! {
        super::vecchia(&[("predict", "exact".into()), ("neighbours", 12.into())])
    }
}
