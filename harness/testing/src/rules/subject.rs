//! The solver or learner under test.

use std::collections::BTreeMap;

use gpbench_host::{CallError, HostTable, LearnerEntry, LearnerObject, SolverEntry, SolverObject};
use gpbench_terms::{Capability, ParamSchema, ParamValue, SolverInfo};

use super::{Judge, MakeSystem, ProcessState};
use crate::Settings;
use crate::settings::by_name;

/// A solver or learner under test, and what the program that tests it provides.
pub struct Subject<'s> {
    /// Its table and description.
    pub entry: SubjectEntry<'s>,
    /// The host that it was given.
    pub host: &'static HostTable,
    /// Systems for a solver.
    pub make: &'s dyn MakeSystem,
    /// What a learner's models are compared with.
    pub judge: &'s dyn Judge,
    /// The process that it runs in.
    pub process: &'s dyn ProcessState,
    /// What its author states of it.
    pub expect: Expect,
}

/// What the author of a solver or learner states of it. By default, all follows from its description.
#[derive(Debug, Clone, Default)]
pub struct Expect {
    /// Parameters of every object, unless a rule is about them; the others take their defaults.
    pub settings: Settings,
    /// Whether the seed matters under these parameters; as the capabilities have it, unless set.
    pub randomized: Option<bool>,
    /// Parameters under which a solver ends after so many iterations. Unless set, `max_iterations` of a solver that has
    /// such a parameter and draws no random numbers.
    pub limit: Option<fn(i64) -> Settings>,
}

/// The table and description of a solver or learner.
#[derive(Debug, Clone, Copy)]
pub enum SubjectEntry<'s> {
    /// Of a solver.
    Solver(&'s SolverEntry),
    /// Of a learner.
    Learner(&'s LearnerEntry),
}

impl<'s> Subject<'s> {
    /// Id, documentation and parameters.
    pub(super) fn info(&self) -> &'s SolverInfo {
        match self.entry {
            SubjectEntry::Solver(entry) => &entry.info,
            SubjectEntry::Learner(entry) => &entry.info,
        }
    }

    /// Differences of its table from this version of the interface, a sentence each.
    pub(super) fn oddities(&self) -> &'s [String] {
        match self.entry {
            SubjectEntry::Solver(entry) => &entry.oddities,
            SubjectEntry::Learner(entry) => &entry.oddities,
        }
    }

    /// Whether it has a capability.
    pub(super) fn can(&self, capability: Capability) -> bool {
        self.info().can(capability)
    }

    /// Whether its answers depend on the seed.
    pub(super) fn is_randomized(&self) -> bool {
        self.expect.randomized.unwrap_or_else(|| self.can(Capability::Randomized))
    }

    /// Parameters under which a solver ends after `count` iterations, if any are known.
    pub(super) fn limit(&self, count: i64) -> Option<Settings> {
        if let Some(limit) = self.expect.limit {
            return Some(limit(count));
        }
        let known = !self.is_randomized() && self.param("max_iterations").is_some();
        known.then(|| vec![("max_iterations", count.into())])
    }

    /// The parameters of an object: these, and those that its author states.
    pub(super) fn params(&self, settings: &[(&str, ParamValue)]) -> BTreeMap<String, ParamValue> {
        let mut params = by_name(&self.expect.settings);
        params.extend(by_name(settings));
        params
    }

    /// Its parameter of this name.
    pub(super) fn param(&self, name: &str) -> Option<&'s ParamSchema> {
        self.info().params.iter().find(|param| param.name == name)
    }

    /// Makes an object and destroys it; parameters that are not given take their defaults, whatever its author states.
    pub(super) fn try_settings(&self, settings: &[(&str, ParamValue)]) -> Result<(), CallError> {
        match self.entry {
            SubjectEntry::Solver(entry) => {
                SolverObject::create(entry, self.host, &by_name(settings))?.destroy()
            }
            SubjectEntry::Learner(entry) => {
                LearnerObject::create(entry, self.host, &by_name(settings))?.destroy()
            }
        }
    }
}
