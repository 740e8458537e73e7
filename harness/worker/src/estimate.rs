//! Estimates of the gradient, or of the whole likelihood, for tasks `train` and `likelihood`.

use gpbench_gp::Gradient;
use gpbench_gp::likelihood::{Likelihood, Sampled, SingleSample, of_features};
use gpbench_gp::train::estimator;
use gpbench_gp::{Arithmetic, RandomFeatures};
use gpbench_record::{FeatureEstimator, Kernel, Probes};
use ndarray::{Array2, ArrayView2};

use crate::failure::{CaseError, invalid};
use crate::kernel::kernel;
use crate::setup::Setup;
use crate::system::System;

/// The gradient from solutions (n x (1 + s)) for y and the probes, and, where there is one, a second, independent
/// solution for y, the first column of `again`. Kernel entries have the given precision.
pub(crate) fn gradient(
    system: &System,
    probes: Probes,
    x: ArrayView2<f64>,
    again: Option<&Array2<f64>>,
    precision: Arithmetic,
) -> Gradient {
    let (operator, again) = (&*system.operator, again.map(|again| again.column(0)));
    match probes {
        Probes::Pathwise(_) => estimator::pathwise(operator, x, again, precision),
        Probes::Standard(_) => estimator::standard(operator, system.targets.rhs.view(), x, again, precision),
    }
}

/// The likelihood with random features in place of the kernel, or the single-sample estimate, with frequencies
/// determined by the number `draw`. Also returns the number of features used.
pub(crate) fn likelihood_of_features(
    setup: &Setup,
    of: &Kernel,
    estimator: FeatureEstimator,
    draw: u64,
) -> Result<(Likelihood, usize), CaseError> {
    let data = setup.rows.subtract_mean(of);
    let (x, y) = (data.x_train.view(), data.y_train.view());
    let (kernel, noise_scale) = (kernel(of, x.ncols())?, of.noise_scale);
    let (count, frequencies, series) = match estimator {
        FeatureEstimator::Rff { features, frequencies } => (features, frequencies, None),
        FeatureEstimator::SsRff { features, step, frequencies } => {
            let series = SingleSample { min: features, step };
            (series.most(x.nrows()), frequencies, Some(series))
        }
    };
    let pairs = |count: usize| count > 0 && count.is_multiple_of(2);
    if !pairs(count) || series.as_ref().is_some_and(|series| !pairs(series.step)) {
        return Err(invalid(format!("{count} random features were asked for; they come in pairs")));
    }
    let streams = setup.rows.streams(kernel.family).further(&format!("draw {draw}"));
    let rng = &mut streams.stream("likelihood-frequencies");
    let features = RandomFeatures::draw(&kernel, frequencies, count, rng);
    setup.pool.install(|| {
        let Some(series) = series else {
            let likelihood = of_features(&features, noise_scale, x, y)?;
            return Ok((likelihood, count));
        };
        let term = &mut streams.stream("likelihood-term");
        let threads = setup.pool.current_num_threads();
        let Sampled { likelihood, features } =
            series.estimate(&features, noise_scale, x, y, term, threads)?;
        Ok((likelihood, features))
    })
}
