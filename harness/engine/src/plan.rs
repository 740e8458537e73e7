//! What the engine is asked to run.

use std::collections::HashSet;
use std::path::PathBuf;

use gpbench_record::{Case, Environment, Fingerprint};

use crate::EngineError;

/// A named list of cases, in the order in which they shall run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The spec's name: the folder under the output folder.
    pub name: String,
    /// The spec as typed, kept in the run folder.
    pub spec_toml: String,
    /// The machine, kept in the run folder.
    pub environment: Environment,
    /// The cases.
    pub cases: Vec<PlannedCase>,
}

/// One case with everything a worker needs to run it.
#[derive(Debug, Clone)]
pub struct PlannedCase {
    /// What to compute.
    pub case: Case,
    /// What else the result depends on.
    pub fingerprint: Fingerprint,
    /// Training rows, where known.
    pub n: Option<usize>,
    /// Binary copy of the data set; absent for generated sets.
    pub dataset_file: Option<PathBuf>,
    /// Library that offers the solver.
    pub plugin_file: PathBuf,
    /// Whether to compare with an exact reference, where n and memory allow one.
    pub wants_exact: bool,
    /// Why the case is not to be run; it gets a `skipped` row with this reason.
    pub skip: Option<String>,
}

impl PlannedCase {
    /// The stable id of the case.
    pub fn id(&self) -> String {
        self.case.id(&self.fingerprint)
    }
}

impl Plan {
    /// The ids of all cases, in order.
    ///
    /// # Errors
    /// When the name cannot be a folder's, or two cases are one and the same.
    pub fn ids(&self) -> Result<Vec<String>, EngineError> {
        check_name(&self.name)?;
        let ids: Vec<String> = self.cases.iter().map(PlannedCase::id).collect();
        let mut seen = HashSet::new();
        for (id, planned) in ids.iter().zip(&self.cases) {
            if !seen.insert(id.as_str()) {
                return Err(EngineError::DuplicateCase { labels: planned.case.labels() });
            }
        }
        Ok(ids)
    }
}

/// A run's name becomes a folder, and must not be mistaken for the word `latest`.
fn check_name(name: &str) -> Result<(), EngineError> {
    let plain = !name.is_empty()
        && name != crate::resolve::LATEST
        && !name.starts_with('.')
        && !name.contains(['/', '\\', '\0']);
    if plain { Ok(()) } else { Err(EngineError::BadName { name: name.to_owned() }) }
}
