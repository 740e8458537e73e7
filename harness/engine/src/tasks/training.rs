//! Task `train`: its steps are compared with the tolerance, and its final prediction is verified.

use gpbench_record::{Case, TaskOutput};

use super::rules::Rules;
use super::steps;

/// The hyperparameters to compare with are known only when training has ended.
pub(super) const RULES: Rules =
    Rules { exact_reference: false, checkpoint: true, verified_case: prediction, status: steps::status };

/// The prediction at the final hyperparameters.
fn prediction(case: &Case, output: &TaskOutput) -> Option<Case> {
    case.prediction(&output.training()?.hyperparameters)
}
