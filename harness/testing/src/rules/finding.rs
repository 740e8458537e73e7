//! Why a rule was not found to be kept.

use gpbench_host::CallError;

/// Why a rule was not found to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The rule is broken; how.
    Failed(String),
    /// The rule does not apply; why.
    Skipped(String),
}

impl Finding {
    /// Says more about a failure.
    pub(super) fn context(self, context: impl FnOnce(String) -> String) -> Finding {
        match self {
            Finding::Failed(why) => Finding::Failed(context(why)),
            skipped @ Finding::Skipped(_) => skipped,
        }
    }
}

impl From<CallError> for Finding {
    fn from(error: CallError) -> Self {
        Finding::Failed(error.to_string())
    }
}
