//! The conformance suite: rules that every solver has to keep, whatever its method, and [`learners`]' rules.
//!
//! A rule asks a [`Subject`] to solve small dense systems and judges the outcomes by arithmetic of its own. It
//! never judges speed, and nothing that the solver does not claim: a solution counts only where convergence is
//! claimed, a warm start only where the solver says that it uses one, and a solver that draws random numbers
//! may answer differently when the rows are reordered.
//!
//! A solver may crash or hang, so the caller runs each rule in a process of its own. That also shows what a
//! solver leaves behind in a process: threads, memory, floating-point modes.
//!
//! This crate does not know the plugin interface. A crate that loads plugins implements [`Subject`] for them.

pub mod learners;
mod rules;
mod subject;
mod system;
mod trial;

pub use rules::RULES;
pub use subject::{
    Ask, Description, Fault, Object, Offer, Outcome, Parameter, Reason, Request, Setting, Subject, Touched,
};
pub use system::KernelSystem;

/// One rule, and how to find out whether an `S` keeps it.
#[derive(Debug)]
pub struct Rule<S: ?Sized> {
    /// Stable name.
    pub name: &'static str,
    /// The rule in one line.
    pub doc: &'static str,
    test: fn(&S) -> Result<(), Finding>,
}

/// A line of the list of rules.
const fn rule<S: ?Sized>(
    name: &'static str,
    doc: &'static str,
    test: fn(&S) -> Result<(), Finding>,
) -> Rule<S> {
    Rule { name, doc, test }
}

impl<S: ?Sized> Rule<S> {
    /// Tests a subject; `Ok` if it keeps the rule.
    pub fn run(&self, subject: &S) -> Result<(), Finding> {
        (self.test)(subject)
    }
}

/// The rule of this name.
#[must_use]
pub fn find<S: ?Sized>(rules: &'static [Rule<S>], name: &str) -> Option<&'static Rule<S>> {
    rules.iter().find(|rule| rule.name == name)
}

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
    fn context(self, context: impl FnOnce(String) -> String) -> Finding {
        match self {
            Finding::Failed(why) => Finding::Failed(context(why)),
            skipped @ Finding::Skipped(_) => skipped,
        }
    }
}

impl From<Fault> for Finding {
    fn from(fault: Fault) -> Self {
        Finding::Failed(fault.text)
    }
}
