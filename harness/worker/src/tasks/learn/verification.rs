//! Verifies a learner's model, in a process that never opens the plugin.

use gpbench_gp::model::ModelError;
use gpbench_host::Arrays;
use gpbench_record::{CaseStatus, Failure, FaultCause, Learning, Metrics, Verified, names};

use crate::evaluate::calibration::Calibrations;
use crate::evaluate::model::{Depth, Evaluation, Judge, ParsedModel, Unusable};
use crate::failure::{CaseError, file_fault, invalid};
use crate::model_file::{self, Learned};
use crate::setup::Setup;

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
    let mut calibrations = None;
    if let Some(model) = &model {
        let Evaluation { metrics: found, test } = judge.evaluate(model, Depth::Final).map_err(singular)?;
        metrics.extend(&found);
        calibrations = test.map(|test| judge.calibrations(test.mean.view(), test.variance.view()));
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
            calibrations = Some(judge.calibrations(predictions.column(0), predictions.column(1)));
        }
    }
    metrics.extend(&calibrations.as_ref().map(Calibrations::metrics).unwrap_or_default());
    let calibration = calibrations.and_then(|calibrations| calibrations.shares());
    Ok(Verified { metrics, calibration, ..Verified::default() })
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
