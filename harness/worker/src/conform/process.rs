//! The process in which a rule runs a solver or learner.

use std::cell::Cell;

use gpbench_gp::blas;
use gpbench_testing::rules::ProcessState;

use crate::channel::Capture;

/// The process that checks a rule, with its standard output captured.
pub(super) struct RuleProcess {
    capture: Capture,
    digest: Cell<Option<u64>>,
}

impl RuleProcess {
    pub(super) fn new(capture: Capture) -> RuleProcess {
        RuleProcess { capture, digest: Cell::new(None) }
    }

    /// The digest of a result that must be the same in every process, if the rule has left one.
    pub(super) fn digest(&self) -> Option<u64> {
        self.digest.get()
    }
}

impl ProcessState for RuleProcess {
    fn blas_threads(&self) -> Option<usize> {
        Some(blas::threads())
    }

    fn printed(&self) -> Option<u64> {
        Some(self.capture.bytes())
    }

    fn keep_digest(&self, digest: u64) {
        self.digest.set(Some(digest));
    }
}
