//! What follows from a learner's model.

use gpbench_host::Arrays;
use gpbench_terms::ModelKind;
use ndarray::{Array2, ArrayView2};

use super::FitRequest;
use crate::rules::Finding;

/// Computes what follows from a learner's model, by other code than the learner's.
pub trait Judge {
    /// Predictions at `x` (m x d) and the objective of the model in `arrays`, which was learned from a request.
    ///
    /// # Errors
    /// What is wrong with the model, or why models of its kind are not judged here.
    fn judge(&self, request: &FitRequest, arrays: &Arrays, x: ArrayView2<'_, f64>)
    -> Result<Judged, Finding>;
}

/// What follows from a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// What the model is.
    pub kind: ModelKind,
    /// Means and variances of y, m x 2.
    pub predictions: Array2<f64>,
    /// What the model minimises, for each row: the likelihood, negative, or its bound. None where it has none.
    pub objective: Option<f64>,
}
