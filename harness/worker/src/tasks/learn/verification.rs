//! Verifies a learner's model, in a process that never opens the plugin.

use gpbench_gp::model::{ModelError, Prediction};
use gpbench_host::Arrays;
use gpbench_record::{
    CaseStatus, Failure, FaultCause, Kernel, Learning, Metrics, ModelKind, OriginBase, Predictions,
    SolutionOutput, Verified, names,
};

use crate::evaluate::calibration::Calibrations;
use crate::evaluate::model::{Depth, Evaluation, Judge, ParsedModel, Unusable};
use crate::evaluate::test_rows::{Predicted, add_error_in_units};
use crate::failure::{CaseError, file_fault, invalid};
use crate::model_file::{self, Learned};
use crate::setup::Setup;
use crate::starts;

/// Evaluates the model, and compares the learner's predictions with those of its model. For a learner that supplies
/// no model, the test metrics are those of its own predictions.
///
/// For a model that is not finite, no metrics are returned.
pub(super) fn verify(setup: &Setup, task: &Learning) -> Result<Verified, CaseError> {
    let rows = setup.rows.split.x_test.nrows();
    let learned = model_file::read(&setup.job.solution_file, rows);
    let Learned { model, last, predictions } = learned.map_err(file_fault(FaultCause::Solution))?;
    let judge = Judge::new(setup, task);
    let model = parsed(&judge, model.as_ref())?;
    let last = parsed(&judge, last.as_ref())?;
    let mut metrics = Metrics::default();
    let (mut calibrations, mut kept) = (None, None);
    if let Some(model) = &model {
        let Evaluation { metrics: found, test } = judge.evaluate(model, Depth::Final).map_err(singular)?;
        metrics.extend(&found);
        metrics.extend(&compared(setup, &judge, model)?);
        calibrations = test.as_ref().map(|test| judge.calibrations(test.mean.view(), test.variance.view()));
        kept = test.and_then(|test| in_units(setup, &judge, model, &test));
    }
    if let Some(predictions) = predictions {
        let predicting = last.as_ref().or(model.as_ref());
        let claims = judge.claims(predictions.view(), predicting).map_err(singular)?;
        metrics.extend(&claims);
        if model.is_none() {
            let own =
                [(names::TEST_RMSE, names::CLAIMED_TEST_RMSE), (names::TEST_NLL, names::CLAIMED_TEST_NLL)];
            for (name, claimed) in own {
                metrics.insert(name, claims.get(claimed).unwrap_or(f64::NAN));
            }
            let (mean, variance) = (predictions.column(0), predictions.column(1));
            calibrations = Some(judge.calibrations(mean, variance));
            let own = Predicted { mean, variance: Some(variance), latent_variance: None };
            kept = own.in_units(&setup.rows, &setup.rows.split);
        }
    }
    add_error_in_units(&mut metrics, &setup.rows);
    metrics.extend(&calibrations.as_ref().map(Calibrations::metrics).unwrap_or_default());
    let calibration = calibrations.and_then(|calibrations| calibrations.shares());
    let units = setup.rows.units.clone().map(Box::new);
    let output = model.as_ref().map(|model| output(&judge, model)).unwrap_or_default();
    Ok(Verified { metrics, calibration, units, predictions: kept, output, ..Verified::default() })
}

/// The kind and the hyperparameters of a model.
fn output(judge: &Judge, model: &ParsedModel) -> SolutionOutput {
    let hyperparameters = judge.hyperparameters(model);
    SolutionOutput { model: Some(model.kind), hyperparameters, ..SolutionOutput::default() }
}

/// The predictions of a model on the test rows in the units of the file, where they are kept. The variances of the latent
/// function are known where the model has one noise scale.
fn in_units(
    setup: &Setup,
    judge: &Judge,
    model: &ParsedModel,
    test: &Prediction,
) -> Option<Box<Predictions>> {
    let noise = judge.hyperparameters(model).get("noise_scale").copied();
    // Rounding can make a small difference negative.
    let latent = noise.map(|noise| (&test.variance - noise.powi(2)).mapv(|variance| variance.max(0.0)));
    let predicted = Predicted {
        mean: test.mean.view(),
        variance: Some(test.variance.view()),
        latent_variance: latent.as_ref().map(|latent| latent.view()),
    };
    predicted.in_units(&setup.rows, &setup.rows.split)
}

/// The comparison of a model's hyperparameters with starts from the data; empty for a model without them, and for random
/// features, which are another covariance function.
fn compared(setup: &Setup, judge: &Judge, model: &ParsedModel) -> Result<Metrics, CaseError> {
    let learned = setup.kernel.with_hyperparameters(&judge.hyperparameters(model));
    let Some(kernel) = learned.filter(|_| model.kind != ModelKind::Features) else {
        return Ok(Metrics::default());
    };
    let kernel = Kernel { origin: OriginBase::Trained.into(), ..kernel };
    starts::compared(&kernel, &setup.rows, setup.job.threads)
}

fn parsed(judge: &Judge, arrays: Option<&Arrays>) -> Result<Option<ParsedModel>, CaseError> {
    match arrays.map(|arrays| judge.parse(arrays)).transpose() {
        Ok(parsed) => Ok(parsed),
        Err(Unusable::Diverged(_)) => Ok(None),
        Err(error) => Err(invalid(error)),
    }
}

/// The failure of a model whose matrices cannot be factorised, which therefore has no predictions.
fn singular(error: ModelError) -> CaseError {
    Failure { status: CaseStatus::Diverged, reason: format!("the model: {error}") }.into()
}
