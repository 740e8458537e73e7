//! The process in which a rule runs a solver or learner.

use gpbench_gp::blas;
use gpbench_testing::rules::ProcessState;

use crate::channel::Capture;

/// The process that checks a rule, with its standard output captured.
pub(super) struct RuleProcess(pub(super) Capture);

impl ProcessState for RuleProcess {
    fn blas_threads(&self) -> Option<usize> {
        Some(blas::threads())
    }

    fn printed(&self) -> Option<u64> {
        Some(self.0.bytes())
    }
}
