//! Predictions and likelihoods of learners' models, computed by the harness.

use std::sync::Arc;

use gpbench_gp::model::{Model, Shape};
use gpbench_host::Arrays;
use gpbench_testing::rules::{Finding, FitRequest, Judge, Judged};
use ndarray::{ArrayView2, Axis, stack};
use rayon::ThreadPool;

use crate::evaluate::model::kind_of;

/// Threads that models are evaluated on.
pub(super) struct Models(pub(super) Arc<ThreadPool>);

impl Judge for Models {
    fn judge(
        &self,
        request: &FitRequest,
        arrays: &Arrays,
        x: ArrayView2<'_, f64>,
    ) -> Result<Judged, Finding> {
        let kind = kind_of(arrays).ok_or_else(|| Finding::Failed("it has no known `kind`".into()))?;
        let shape = Shape { rows: request.x.nrows(), inputs: request.x.ncols() };
        let model = Model::parse(kind, request.covariance, shape, arrays)
            .map_err(|error| Finding::Failed(error.to_string()))?;
        let judged = model.posterior(request.x.view(), request.y.view(), &self.0).and_then(|posterior| {
            let predicted = posterior.predict(x)?;
            let columns = [predicted.mean.view(), predicted.variance.view()];
            let predictions = stack(Axis(1), &columns).expect("as many means as variances");
            Ok(Judged { kind, predictions, objective: posterior.objective()? })
        });
        judged.map_err(|error| Finding::Failed(error.to_string()))
    }
}
