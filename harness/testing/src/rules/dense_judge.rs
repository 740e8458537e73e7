//! Predictions and objectives of learners' models, by dense matrices of all rows.

use gpbench_host::Arrays;
use gpbench_sdk::Model;
use ndarray::{ArrayView2, Axis, stack};

use super::{Finding, FitRequest, Judge, Judged};
use crate::{DenseModel, FitHost};

/// Judge of exact processes, of finitely many features and of actions; rules about other models are skipped.
pub(super) struct DenseJudge;

impl Judge for DenseJudge {
    fn judge(
        &self,
        request: &FitRequest,
        arrays: &Arrays,
        x: ArrayView2<'_, f64>,
    ) -> Result<Judged, Finding> {
        let model = Model::from(arrays.clone());
        let kind = model.kind().ok_or_else(|| Finding::Failed("it has no known `kind`".into()))?;
        if !DenseModel::evaluates(&model) {
            return Err(Finding::Skipped(format!("models of the kind {kind} are not judged here")));
        }
        let mut host = FitHost::new(&request.x, &request.y).family(request.covariance);
        if let Some(network) = request.network.clone() {
            host = host.network(network);
        }
        let dense = DenseModel::new(&host, model);
        let (mean, variance) = dense.predict(&x.to_owned());
        let predictions = stack(Axis(1), &[mean.view(), variance.view()]).expect("as many of both");
        Ok(Judged { kind, predictions, objective: Some(dense.objective()) })
    }
}
