//! The solver or learner under test.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

use gpbench_host::{
    CallError, HostTable, LearnerEntry, LearnerObject, SolverEntry, SolverObject, SolverState,
};
use gpbench_terms::{Capability, ParamSchema, ParamValue, Reason, SolverInfo};

use super::{Claims, Finding, FitRequest, Judge, MakeSystem, ProcessState};
use crate::Settings;
use crate::settings::by_name;

/// A solver or learner under test, with the services of the program that tests it.
pub struct Subject<'s> {
    /// Its table and description.
    pub entry: SubjectEntry<'s>,
    /// The host of the subject.
    pub host: &'static HostTable,
    /// Systems for a solver.
    pub make: &'s dyn MakeSystem,
    /// Judge of a learner's models.
    pub judge: &'s dyn Judge,
    /// State of its process.
    pub process: &'s dyn ProcessState,
    /// Statements of its author.
    pub expect: Expect,
}

/// Statements of the author of a solver or learner, by which rules are tested more sharply. By default, its description
/// is used.
#[derive(Debug, Clone, Default)]
pub struct Expect {
    /// Parameters of every object, unless a rule is about parameters; the others have their defaults.
    pub settings: Settings,
    /// Whether results depend on the seed with these parameters; by default, as the capabilities state.
    pub randomized: Option<bool>,
    /// Parameters with which a solver ends after a given number of iterations. The default is `max_iterations` for a
    /// solver that has this parameter and draws no random numbers.
    pub limit: Option<fn(i64) -> Settings>,
    /// Reason with which an undisturbed solve or fit ends. By default any reason is accepted, and rules about
    /// convergence are skipped without it.
    pub ends: Option<Reason>,
    /// Accuracy of a solver's residual norms. By default they are to be within a factor of 2.
    pub claims: Option<Claims>,
    /// State of an earlier outer step, which each solve is given.
    pub state: SolverState,
    /// Change of each fit that a rule asks for, such as another kernel or a network.
    pub fit: Option<fn(FitRequest) -> FitRequest>,
    /// Rules that do not apply, each with the reason.
    pub except: Vec<(&'static str, &'static str)>,
}

/// The table and description of a solver or learner.
#[derive(Debug, Clone, Copy)]
pub enum SubjectEntry<'s> {
    /// The table and description of a solver.
    Solver(&'s SolverEntry),
    /// The table and description of a learner.
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

    /// Hands over the bits of a result that must be the same in every process.
    pub(super) fn keep_digest(&self, words: impl Iterator<Item = u64>) {
        let mut hasher = DefaultHasher::new();
        words.for_each(|word| hasher.write_u64(word));
        self.process.keep_digest(hasher.finish());
    }

    /// Skips or fails a rule whose request ended with another reason than the rule needs: it fails if the author
    /// states that reason.
    pub(super) fn unexpected_end(&self, needed: Reason, what: String) -> Finding {
        if self.expect.ends == Some(needed) { Finding::Failed(what) } else { Finding::Skipped(what) }
    }

    /// Whether its author states how it ends, so that a rule may ask for more than its name says.
    pub(super) fn is_stated(&self) -> bool {
        self.expect.ends.is_some()
    }

    /// Whether it is a solver, not an exact one, whose author states how it ends.
    pub(super) fn is_stated_iterative(&self) -> bool {
        self.is_stated() && !self.can(Capability::Exact)
    }

    /// Fails for an iterative solver whose author states how it ends, if it neither stagnated nor diverged on a problem
    /// with NaN.
    pub(super) fn demand_no_result(&self, reason: Reason) -> Result<(), Finding> {
        if !self.is_stated_iterative() || matches!(reason, Reason::Stagnated | Reason::Diverged) {
            return Ok(());
        }
        Err(Finding::Failed(format!("ends {reason:?}, where it is to stagnate or to diverge")))
    }

    /// Parameters with which a solver ends after `count` iterations, if known.
    pub(super) fn limit(&self, count: i64) -> Option<Settings> {
        if let Some(limit) = self.expect.limit {
            return Some(limit(count));
        }
        let known = !self.is_randomized() && self.param("max_iterations").is_some();
        known.then(|| max_iterations(count))
    }

    /// The parameters of an object: `settings`, and those that its author states.
    pub(super) fn params(&self, settings: &[(&str, ParamValue)]) -> BTreeMap<String, ParamValue> {
        let mut params = by_name(&self.expect.settings);
        params.extend(by_name(settings));
        params
    }

    /// The parameter of this name.
    pub(super) fn param(&self, name: &str) -> Option<&'s ParamSchema> {
        self.info().params.iter().find(|param| param.name == name)
    }

    /// Makes an object and destroys it. Other parameters have their defaults, without regard to the author's
    /// statements.
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

/// The usual parameter that limits the iterations of a solver.
pub(super) fn max_iterations(count: i64) -> Settings {
    vec![("max_iterations", count.into())]
}
