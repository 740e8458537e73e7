//! Predictions and objective of a learner's model, computed independently.

use gpbench_host::Arrays;
use gpbench_terms::ModelKind;
use ndarray::{Array2, ArrayView2};

use super::FitRequest;
use crate::rules::Finding;

/// Computes predictions and the objective of a learner's model, by other code than the learner's.
pub trait Judge {
    /// Predictions at `x` (m x d) and the objective of the model in `arrays`, which was learned from a request.
    ///
    /// # Errors
    /// If the model is invalid, or models of its kind are not judged here.
    fn judge(&self, request: &FitRequest, arrays: &Arrays, x: ArrayView2<'_, f64>)
    -> Result<Judged, Finding>;
}

/// Results for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Kind of the model.
    pub kind: ModelKind,
    /// Means and variances of y, m x 2.
    pub predictions: Array2<f64>,
    /// Objective of the model per row: the negative log likelihood or its bound. `None` if it has none.
    pub objective: Option<f64>,
}
