//! Negative outcomes of the test of a rule.

use gpbench_host::CallError;

/// The reason why a rule did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The rule is broken, with the reason.
    Failed(String),
    /// The rule does not apply, with the reason.
    Skipped(String),
}

impl Finding {
    /// Adds context to the reason of a failure.
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
