//! Estimates of the gradient, or of the whole likelihood, as tasks `train` and `likelihood` take them.

use std::sync::Arc;

use gpbench_data::Split;
use gpbench_gp::exact::Gradient;
use gpbench_gp::likelihood::{Likelihood, Sampled, SingleSample, of_features};
use gpbench_gp::train::estimator;
use gpbench_gp::{FrequencyLaw, RandomFeatures};
use gpbench_record::{Case, EstimatorMethod, Failure, Frequencies};
use ndarray::{Array2, ArrayView2};
use rayon::ThreadPool;

use crate::case::invalid;
use crate::system::{self, System};

/// The gradient from solutions (n x (1 + s)) of y and the probes, and where there is one a second, independent
/// solution of y, the first column of `again`.
pub(crate) fn gradient(
    system: &System,
    method: EstimatorMethod,
    x: ArrayView2<f64>,
    again: Option<&Array2<f64>>,
) -> Gradient {
    let (operator, again) = (&system.operator, again.map(|again| again.column(0)));
    match method {
        EstimatorMethod::Pathwise => estimator::pathwise(operator, x, again),
        _ => estimator::standard(operator, system.targets.rhs.view(), x, again),
    }
}

/// The likelihood with random features in the kernel's place, or the single-sample estimate, with frequencies
/// that the number `draw` chooses. Also the number of features that it took.
pub(crate) fn likelihood_of_features(
    case: &Case,
    data: &Arc<Split>,
    pool: &Arc<ThreadPool>,
    draw: u64,
) -> Result<(Likelihood, usize), Failure> {
    let data = system::about(data.clone(), &case.kernel);
    let (x, y, d) = (data.x_train.view(), data.y_train.view(), data.x_train.ncols());
    let kernel = system::kernel(&case.kernel, d).map_err(invalid)?;
    let (noise_scale, estimator) = (case.kernel.noise_scale, &case.estimator);
    let streams = system::streams(&case.dataset, kernel.family, case.seed).further(&format!("draw {draw}"));
    let series = SingleSample { min: estimator.features, step: estimator.feature_step };
    let single = estimator.method == EstimatorMethod::SsRff;
    let count = if single { series.most(x.nrows()) } else { estimator.features };
    if count == 0 || count % 2 == 1 || (single && (series.step == 0 || series.step % 2 == 1)) {
        let what = format!("estimator `{}` has {count} features; they come in pairs", estimator.name);
        return Err(invalid(what));
    }
    let law = match estimator.frequencies {
        Frequencies::ProductT => FrequencyLaw::ProductT,
        Frequencies::MultivariateT | Frequencies::Exact => FrequencyLaw::MultivariateT,
    };
    let features = RandomFeatures::draw(&kernel, law, count, &mut streams.stream("likelihood-frequencies"));
    pool.install(|| {
        if !single {
            let likelihood = of_features(&features, noise_scale, x, y).map_err(invalid)?;
            return Ok((likelihood, count));
        }
        let term = &mut streams.stream("likelihood-term");
        let threads = pool.current_num_threads();
        let Sampled { likelihood, features } =
            series.estimate(&features, noise_scale, x, y, term, threads).map_err(invalid)?;
        Ok((likelihood, features))
    })
}
