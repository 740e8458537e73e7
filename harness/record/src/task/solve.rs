//! Task `solve`: a linear system with several right-hand sides.

use serde::{Deserialize, Serialize};

use super::rules::{Judgement, TaskRules};
use crate::Probes;

/// The inputs of task `solve`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Solve {
    /// Name on the estimator axis.
    pub estimator: String,
    /// Right-hand sides in addition to y.
    pub probes: Probes,
}

impl TaskRules for Solve {
    fn estimator(&self) -> Option<&str> {
        Some(&self.estimator)
    }

    fn probes(&self) -> Option<Probes> {
        Some(self.probes)
    }

    fn right_hand_sides(&self) -> usize {
        1 + self.probes.count()
    }

    fn exact_reference(&self) -> bool {
        true
    }

    fn judgement(&self) -> Judgement {
        Judgement::Residuals
    }
}
