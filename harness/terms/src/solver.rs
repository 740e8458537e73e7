//! Descriptions of the solvers and learners of a plugin library.

use crate::{Capability, ParamSchema};

crate::words! {
    /// The kind of an entry of the solver axis.
    pub enum SolverKind {
        /// Solves linear systems with H.
        Solver = "solver",
        /// Fits and predicts by itself.
        Learner = "learner",
    }
}

/// What readers who choose a method want to know of it, each in one line; empty where the plugin does not state it.
/// In these texts n is the number of rows, d of inputs and s of right-hand sides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Facts {
    /// Work of a step: kernel entries, and operations where they matter more.
    pub step: String,
    /// Numbers that are held beyond the data.
    pub memory: String,
    /// What is true of every result.
    pub guarantees: String,
    /// When to use it, and when not.
    pub advice: String,
}

impl Facts {
    /// Each fact with its heading.
    pub fn titled(&self) -> [(&'static str, &str); 4] {
        let Facts { step, memory, guarantees, advice } = self;
        [("a step costs", step), ("memory", memory), ("guarantees", guarantees), ("when to use it", advice)]
    }

    /// Whether nothing is stated.
    pub fn is_empty(&self) -> bool {
        self.titled().iter().all(|(_, text)| text.is_empty())
    }
}

/// Description of a solver or learner.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SolverInfo {
    /// Id that a spec's `plugin` key names.
    pub id: String,
    /// Solver or learner.
    pub kind: SolverKind,
    /// One line of documentation.
    pub doc: String,
    /// The paper or book of the method, as a full bibliographic entry; absent if the plugin names none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub source: Option<String>,
    /// What readers who choose a method want to know of it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Facts::is_empty"))]
    pub facts: Facts,
    /// Its capabilities, in the order of [`Capability::ALL`].
    pub capabilities: Vec<Capability>,
    /// Parameter schema.
    pub params: Vec<ParamSchema>,
    /// Whether it has no functions and cannot run. This is the case for a learner of a library that was built for an
    /// interface without functions of learners.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub listed_only: bool,
}

impl SolverInfo {
    /// The name in messages, such as `` learner `scgd` ``.
    pub fn called(&self) -> String {
        format!("{} `{}`", self.kind, self.id)
    }

    /// Whether the solver has a capability.
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// Whether a learner has to be given inducing points: it takes them, and has no parameter `points` by which it chooses
    /// them where it is given none.
    pub fn needs_inducing(&self) -> bool {
        self.can(Capability::Inducing) && self.params.iter().all(|param| param.name != "points")
    }
}
