//! The process in which a rule runs a solver or learner.

use std::cell::Cell;

use gpbench_gp::blas;
use gpbench_testing::rules::ProcessState;

use crate::channel::Capture;
use crate::process;

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

/// The processes that the subject's library has had adopted are observed as this one.
impl ProcessState for RuleProcess {
    fn threads_of_children(&self) -> usize {
        let threads = |pid| std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
        process::adopted().into_iter().map(threads).sum()
    }

    fn resident(&self) -> Option<u64> {
        Some(process::resident_bytes()).filter(|bytes| *bytes > 0)
    }

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
