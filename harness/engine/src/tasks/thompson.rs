//! Task `thompson`: its steps are compared with the tolerance, and what they found is asked anew.

use super::rules::Rules;
use super::steps;

/// The rows are known only along the way, so that there is no reference to compare with.
pub(super) const RULES: Rules =
    Rules { exact_reference: false, checkpoint: true, verified_case: |_, _| None, status: steps::status };
