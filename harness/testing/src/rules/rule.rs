//! A rule: its name, its text and its test.

use super::{Finding, Subject};

/// One rule, and how to find out whether a subject keeps it.
#[derive(Debug)]
pub struct Rule {
    /// Stable name.
    pub name: &'static str,
    /// The rule in one line.
    pub doc: &'static str,
    test: fn(&Subject<'_>) -> Result<(), Finding>,
}

/// A line of the list of rules.
pub(super) const fn rule(
    name: &'static str,
    doc: &'static str,
    test: fn(&Subject<'_>) -> Result<(), Finding>,
) -> Rule {
    Rule { name, doc, test }
}

impl Rule {
    /// Tests a subject; `Ok` if it keeps the rule.
    ///
    /// # Errors
    /// If it does not, or the rule does not apply to it.
    pub fn run(&self, subject: &Subject<'_>) -> Result<(), Finding> {
        (self.test)(subject)
    }
}
