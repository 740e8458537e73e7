//! The tests that every learner inherits: a network with a linear kernel, one with random features, and the inputs alone.

use gpbench_plugin_minimax::Minimax;
use gpbench_sdk::{Activation, Covariance, NetworkShape};
use gpbench_testing::{FitHost, LearnerSuite};

fn network(random: usize) -> NetworkShape {
    let random = Some(random).filter(|&count| count > 0);
    NetworkShape { activation: Activation::Relu, widths: vec![9, 7], random }
}

mod linear {
    use super::*;

    gpbench_testing::learner_suite! {
        LearnerSuite::<Minimax>::new(FitHost::wave(57).family(Covariance::Linear).network(network(0)).passes(4.0))
            .settings([("batch", 20.into())])
    }
}

mod random {
    use super::*;

    gpbench_testing::learner_suite! {
        LearnerSuite::<Minimax>::new(FitHost::wave(57).network(network(12)).trained_mean().passes(4.0))
            .settings([("batch", 20.into()), ("sampling", "independent".into()), ("mu", 5.0.into())])
    }
}

mod inputs {
    use super::*;

    gpbench_testing::learner_suite! {
        LearnerSuite::<Minimax>::new(FitHost::wave(57).passes(4.0))
            .settings([("batch", 20.into()), ("features", 30.into()), ("monitor", 2.into())])
    }
}
