//! The plan that an engine runs.

use std::collections::HashSet;
use std::ops::Deref;

use gpbench_record::{CaseFiles, ComposedLibrary, Environment, PlannedCase};
use gpbench_runs::PlanFile;
use jiff::Timestamp;

use crate::EngineError;

/// A named list of cases, in the order in which they are to run, and what it takes to run them here.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The plan as its run folder stores it, but for the time at which the run began. The name is that of the folder under the
    /// output folder.
    pub file: PlanFile,
    /// The files of each case, in the order of the cases.
    pub files: Vec<CaseFiles>,
    /// The libraries that consist of more than their file.
    pub libraries: Vec<ComposedLibrary>,
    /// The spec as typed, stored in the run folder.
    pub spec_toml: String,
    /// Where the cases run, stored in the run folder.
    pub environment: Environment,
}

/// A case of a plan with the files that it needs.
#[derive(Debug, Clone, Copy)]
pub struct Planned<'a> {
    /// The case as planned.
    pub entry: &'a PlannedCase,
    /// Its files and estimates.
    pub files: &'a CaseFiles,
}

impl Deref for Planned<'_> {
    type Target = PlannedCase;

    fn deref(&self) -> &PlannedCase {
        self.entry
    }
}

impl Plan {
    /// The case at this index of the plan, with its files.
    pub fn planned(&self, index: usize) -> Planned<'_> {
        Planned { entry: &self.file.cases[index], files: &self.files[index] }
    }

    /// Checks that each case is there once.
    ///
    /// # Errors
    /// When two cases are the same.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        let mut seen = HashSet::new();
        match self.file.cases.iter().find(|planned| !seen.insert(&planned.id)) {
            Some(planned) => Err(EngineError::DuplicateCase { labels: planned.labels.clone() }),
            None => Ok(()),
        }
    }

    /// The plan as the folder of a run stores it that began at `created`.
    pub(crate) fn stored(&self, created: Timestamp) -> PlanFile {
        PlanFile { created: created.to_string(), ..self.file.clone() }
    }

    /// A stored plan with the axes, report options, sources and notes of this one, and its place in a larger plan.
    pub(crate) fn refresh(&self, stored: PlanFile) -> PlanFile {
        let PlanFile { axes, report, sources, dataset_notes, part, .. } = self.file.clone();
        PlanFile { axes, report, sources, dataset_notes, part, ..stored }
    }
}
