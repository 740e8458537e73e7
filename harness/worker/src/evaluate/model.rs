//! Metrics of a learner's model: predictions and likelihoods that the harness computes from the model's arrays.

use std::sync::Arc;

use gpbench_gp::metrics;
use gpbench_gp::model::{InvalidArray, Model, ModelError, Posterior, Prediction, Shape, subset};
use gpbench_host::Arrays;
use gpbench_record::{Covariance, Hyperparameters, Kernel, Learning, Metrics, ModelKind, names};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use rayon::ThreadPool;

use crate::evaluate::calibration::Calibrations;
use crate::setup::Setup;

/// Test rows on which a learner's predictions are compared with those of its model where each costs a linear system of all
/// training rows.
const COMPARED_ROWS: usize = 32;

/// Evaluator of models, with the rows on which they are evaluated. No learner can choose these rows.
pub(crate) struct Judge<'s> {
    setup: &'s Setup<'s>,
    task: &'s Learning,
    /// Training rows on which an evaluation during the fit computes the likelihood of a kernel of infinite dimension.
    few: (Array2<f64>, Array1<f64>),
}

/// A model whose arrays are valid.
pub(crate) struct ParsedModel {
    pub(crate) kind: ModelKind,
    model: Model,
}

/// Result of an evaluation of a model.
pub(crate) struct Evaluation {
    /// Metrics; one that is not known is absent.
    pub(crate) metrics: Metrics,
    /// Predictions on the test rows, where they were computed.
    pub(crate) test: Option<Prediction>,
}

/// Reason why a learner's arrays are not a valid model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    /// The arrays indicate a learner that has diverged.
    #[error("the model is unusable: {0}")]
    Diverged(InvalidArray),
    /// The number under `kind` is missing or unknown.
    #[error("the model has no `kind` that version 1 has")]
    Kind,
    /// The arrays do not fit the kind.
    #[error("the model is malformed: {0}")]
    Malformed(InvalidArray),
}

impl From<InvalidArray> for Unusable {
    fn from(error: InvalidArray) -> Self {
        if error.diverged { Unusable::Diverged(error) } else { Unusable::Malformed(error) }
    }
}

/// Extent of an evaluation of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// For evaluations during the fit: metrics that take cubic time are omitted or computed on few rows.
    Look,
    /// For the final evaluation: all metrics.
    Final,
}

impl<'s> Judge<'s> {
    /// The evaluator of the models of a case.
    pub(crate) fn new(setup: &'s Setup<'s>, task: &'s Learning) -> Judge<'s> {
        let split = &setup.rows.split;
        let rows = subset(setup.rows.n(), task.nlml_rows, setup.rows.seed);
        let few = (split.x_train.select(Axis(0), &rows), split.y_train.select(Axis(0), &rows));
        Judge { setup, task, few }
    }

    /// The model that arrays describe.
    pub(crate) fn parse(&self, arrays: &Arrays) -> Result<ParsedModel, Unusable> {
        let kind = kind_of(arrays).ok_or(Unusable::Kind)?;
        let shape = Shape { rows: self.setup.rows.n(), inputs: self.setup.rows.d() };
        let model = Model::parse(kind, self.setup.kernel.family, shape, arrays)?;
        let (rows, rank) = (self.task.dense_rows(), self.task.variance_rank);
        Ok(ParsedModel { kind, model: model.with_dense_rows(rows).with_variance_rank(rank) })
    }

    /// Evaluates a model.
    ///
    /// # Errors
    /// Where the model's matrices are singular.
    pub(crate) fn evaluate(&self, parsed: &ParsedModel, depth: Depth) -> Result<Evaluation, ModelError> {
        let (n, few) = (self.setup.rows.n(), self.task.nlml_rows);
        let mut found = Metrics::default();
        let is_near = parsed.kind == ModelKind::Neighbours;
        let is_dense = Learning::is_dense(parsed.kind, self.setup.kernel.family);
        let is_dear = (is_dense || is_near) && n > few;
        if is_dear && depth == Depth::Look {
            let (x, y) = (self.few.0.view(), self.few.1.view());
            insert(&mut found, names::NLML, parsed.model.posterior(x, y, self.pool())?.nlml()?);
            if !is_near && !self.task.select.validates() {
                return Ok(Evaluation { metrics: found, test: None });
            }
        }
        let posterior = self.posterior(parsed)?;
        let test = self.predictions(&posterior, &mut found)?;
        let is_bounded =
            matches!(parsed.kind, ModelKind::Inducing | ModelKind::NetworkInducing | ModelKind::Actions);
        if is_bounded {
            insert(&mut found, names::BOUND, posterior.objective()?);
        }
        if depth == Depth::Final {
            let dead = parsed.model.dead_features(self.setup.rows.split.x_train.view(), self.pool());
            insert(&mut found, names::DEAD_FEATURES, dead.map(|count| count as f64));
        }
        // With inducing points, neighbours and actions the likelihood takes cubic time too, unless the kernel has
        // finitely many features.
        let is_cubic = !self.is_finite() && (is_bounded || is_near) || is_dense;
        let most = if depth == Depth::Final { self.task.dense_rows() } else { few };
        if !is_cubic || (n <= most && (depth == Depth::Final || !is_bounded)) {
            insert(&mut found, names::NLML, posterior.nlml()?);
        }
        Ok(Evaluation { metrics: found, test: Some(test) })
    }

    /// The value by which models are selected where they are selected by likelihood: the exact negative log marginal
    /// likelihood, or else the objective that the model minimises.
    pub(crate) fn objective(
        &self,
        parsed: &ParsedModel,
        metrics: &Metrics,
    ) -> Result<Option<f64>, ModelError> {
        match metrics.get(names::NLML).or(metrics.get(names::BOUND)) {
            Some(known) => Ok(Some(known)),
            None => self.posterior(parsed)?.objective(),
        }
    }

    /// Metrics of the learner's own predictions on the test rows, and their distance to the predictions of its model.
    pub(crate) fn claims(
        &self,
        own: ArrayView2<f64>,
        model: Option<&ParsedModel>,
    ) -> Result<Metrics, ModelError> {
        let split = &self.setup.rows.split;
        let y = split.y_test.view();
        let (mean, variance) = (own.column(0), own.column(1));
        let mut found = Metrics::default();
        found.insert(names::CLAIMED_TEST_RMSE, metrics::rmse(mean, y));
        found.insert(names::CLAIMED_TEST_NLL, metrics::mean_negative_log_likelihood(y, mean, variance));
        if let Some(model) = model {
            let posterior = self.posterior(model)?;
            let deviation = split.y_train.std(0.0);
            let distance = if posterior.has_approximate_variance() {
                let rows = subset(split.y_test.len(), COMPARED_ROWS, self.setup.rows.seed);
                let expected = posterior.predict_exactly(split.x_test.select(Axis(0), &rows).view())?;
                gap(own.select(Axis(0), &rows).view(), &expected, deviation)
            } else {
                gap(own, &posterior.predict(split.x_test.view())?, deviation)
            };
            found.insert(names::PREDICTION_GAP, distance);
        }
        Ok(found)
    }

    /// The calibration of predictions on the test rows. `variance` includes the noise.
    pub(crate) fn calibrations(&self, mean: ArrayView1<f64>, variance: ArrayView1<f64>) -> Calibrations {
        Calibrations::of(&self.setup.rows.split, mean, variance)
    }

    /// A model's hyperparameters by name; none for experts, which have several sets.
    pub(crate) fn hyperparameters(&self, parsed: &ParsedModel) -> Hyperparameters {
        let Some(scales) = parsed.model.hyperparameters() else { return Hyperparameters::new() };
        let kernel = &self.setup.kernel;
        let shared = self.task.shared_length_scale || kernel.network.is_some();
        let mut length_scale = scales.length_scale.clone();
        if shared && length_scale.windows(2).all(|pair| pair[0] == pair[1]) {
            length_scale.truncate(1);
        }
        let mean = kernel.mean.and(parsed.model.mean());
        let (signal_scale, noise_scale) = (scales.signal_scale, scales.noise_scale);
        let mut named =
            Kernel { signal_scale, noise_scale, length_scale, mean, ..kernel.clone() }.hyperparameters();
        named.retain(|_, value| value.is_finite());
        named
    }

    fn posterior<'m>(&'m self, parsed: &'m ParsedModel) -> Result<Posterior<'m>, ModelError> {
        let split = &self.setup.rows.split;
        parsed.model.posterior(split.x_train.view(), split.y_train.view(), self.pool())
    }

    /// Adds metrics of the predictions on test and validation rows; returns those on the test rows.
    fn predictions(&self, posterior: &Posterior, found: &mut Metrics) -> Result<Prediction, ModelError> {
        let split = &self.setup.rows.split;
        let mut on = |(x, y): (ArrayView2<f64>, ArrayView1<f64>), rmse: &str, nll: &str| {
            let prediction = posterior.predict(x)?;
            let (mean, variance) = (prediction.mean.view(), prediction.variance.view());
            found.insert(rmse, metrics::rmse(mean, y));
            found.insert(nll, metrics::mean_negative_log_likelihood(y, mean, variance));
            Ok::<Prediction, ModelError>(prediction)
        };
        let test = on((split.x_test.view(), split.y_test.view()), names::TEST_RMSE, names::TEST_NLL)?;
        if !split.y_validation.is_empty() {
            let validation = (split.x_validation.view(), split.y_validation.view());
            on(validation, names::VALIDATION_RMSE, names::VALIDATION_NLL)?;
        }
        Ok(test)
    }

    /// Whether the kernel has finitely many features.
    fn is_finite(&self) -> bool {
        self.setup.kernel.family == Covariance::Linear
    }

    fn pool(&self) -> &Arc<ThreadPool> {
        &self.setup.pool
    }
}

fn insert(found: &mut Metrics, name: &str, value: Option<f64>) {
    if let Some(value) = value {
        found.insert(name, value);
    }
}

/// The kind of a model by its number.
pub(crate) fn kind_of(arrays: &Arrays) -> Option<ModelKind> {
    let kind = arrays.get("kind").filter(|kind| kind.dim() == (1, 1))?[[0, 0]];
    ModelKind::ALL.into_iter().find(|named| f64::from(named.number()) == kind)
}

/// The largest distance of predictions (m x 2) to the expected ones: of means over the targets' standard deviation, or
/// over 1 where the targets are constant, or of variances over the variance. It is NaN where a prediction is NaN.
fn gap(own: ArrayView2<f64>, expected: &Prediction, deviation: f64) -> f64 {
    let deviation = if deviation > 0.0 { deviation } else { 1.0 };
    // Equal numbers have no distance, even where both are 0.
    let apart = |a: f64, b: f64, scale: f64| if a == b { 0.0 } else { (a - b).abs() / scale };
    let means = own.column(0).into_iter().zip(&expected.mean).map(|(a, b)| apart(*a, *b, deviation));
    let variances = own.column(1).into_iter().zip(&expected.variance).map(|(a, b)| apart(*a, *b, *b));
    // `max` would ignore NaN.
    means.chain(variances).fold(0.0, |most, gap| if gap > most || gap.is_nan() { gap } else { most })
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn the_gap_is_the_worst_of_means_and_variances() {
        let expected = Prediction { mean: array![1.0, 2.0], variance: array![0.5, 4.0] };
        let of = |own: Array2<f64>| gap(own.view(), &expected, 2.0);
        assert_eq!(of(array![[1.0, 0.5], [2.0, 4.0]]), 0.0);
        assert_eq!(of(array![[1.0, 0.5], [2.5, 4.0]]), 0.25);
        assert_eq!(of(array![[1.0, 0.5], [2.0, 2.0]]), 0.5);
        assert!(of(array![[f64::NAN, 0.5], [2.0, 2.0]]).is_nan());
        assert!(of(array![[1.0, f64::NAN], [2.0, 2.0]]).is_nan());
        let constant = |own: Array2<f64>| gap(own.view(), &expected, 0.0);
        assert_eq!(constant(array![[1.0, 0.5], [2.0, 4.0]]), 0.0);
        assert_eq!(constant(array![[1.0, 0.5], [2.5, 4.0]]), 0.5);
    }

    #[test]
    fn only_known_kinds_are_kinds() {
        let of = |kind: Array2<f64>| kind_of(&Arrays::from([("kind".to_owned(), kind)]));
        assert_eq!(of(array![[1.0]]), Some(ModelKind::Gp));
        assert_eq!(of(array![[8.0]]), Some(ModelKind::Actions));
        for wrong in [array![[0.0]], array![[1.5]], array![[9.0]], array![[1.0, 1.0]], array![[f64::NAN]]] {
            assert_eq!(of(wrong), None);
        }
        assert_eq!(kind_of(&Arrays::new()), None);
    }
}
