//! The plan that an engine runs.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use gpbench_record::{Axes, Case, CaseFiles, Environment, Fingerprint, PartOfPlan, ReportOptions};
use gpbench_runs::{PlanEntry, PlanFile};
use jiff::Timestamp;

use crate::EngineError;

/// A named list of cases, in the order in which they are to run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The spec's name: the folder under the output folder.
    pub name: String,
    /// The spec as typed, stored in the run folder.
    pub spec_toml: String,
    /// The names on the spec's axes.
    pub axes: Axes,
    /// What the spec asks of its report.
    pub report: ReportOptions,
    /// Bibliographic entries of the solvers that are used, by plugin id.
    pub sources: BTreeMap<String, String>,
    /// Which part of a larger plan this is, if it is one.
    pub part: Option<PartOfPlan>,
    /// Where the cases run, stored in the run folder.
    pub environment: Environment,
    /// The cases.
    pub cases: Vec<PlannedCase>,
}

/// One case with everything that a worker needs.
#[derive(Debug, Clone)]
pub struct PlannedCase {
    /// What to compute.
    pub case: Case,
    /// What else the result depends on. Its number of threads is the one that the case runs on.
    pub fingerprint: Fingerprint,
    /// Training rows, where known.
    pub n: Option<usize>,
    /// Bytes of memory that the case is likely to use, where known.
    pub memory_estimate: Option<u64>,
    /// Binary copy of the data set; absent for generated sets.
    pub dataset_file: Option<PathBuf>,
    /// Library that offers the solver.
    pub plugin_file: PathBuf,
    /// Why the case is not to be run; it gets a `skipped` row with this reason.
    pub skip: Option<String>,
}

impl PlannedCase {
    /// A case of a stored plan with its files.
    pub fn of(entry: &PlanEntry, files: &CaseFiles) -> Self {
        Self {
            case: entry.case.clone(),
            fingerprint: entry.fingerprint.clone(),
            n: entry.n,
            memory_estimate: files.memory_estimate,
            dataset_file: files.dataset_file.clone(),
            plugin_file: files.plugin_file.clone(),
            skip: entry.skip.clone(),
        }
    }

    /// The stable id of the case.
    pub fn id(&self) -> String {
        self.case.id(&self.fingerprint)
    }
}

impl Plan {
    /// The ids of all cases, in order.
    ///
    /// # Errors
    /// When two cases are the same.
    pub fn ids(&self) -> Result<Vec<String>, EngineError> {
        let ids: Vec<String> = self.cases.iter().map(PlannedCase::id).collect();
        let mut seen = HashSet::new();
        for (id, planned) in ids.iter().zip(&self.cases) {
            if !seen.insert(id.as_str()) {
                return Err(EngineError::DuplicateCase { labels: planned.case.labels() });
            }
        }
        Ok(ids)
    }

    /// The plan as its run folder stores it.
    pub(crate) fn file(&self, ids: &[String], created: Timestamp) -> PlanFile {
        let entry = |(id, planned): (&String, &PlannedCase)| PlanEntry {
            id: id.clone(),
            labels: planned.case.labels(),
            case: planned.case.clone(),
            fingerprint: planned.fingerprint.clone(),
            n: planned.n,
            skip: planned.skip.clone(),
            plan: None,
            digest: None,
        };
        PlanFile {
            cases: ids.iter().zip(&self.cases).map(entry).collect(),
            ..self.refresh(PlanFile::new(&self.name, created))
        }
    }

    /// A stored plan with the axes, report options and sources of this one, and its place in a larger plan.
    pub(crate) fn refresh(&self, file: PlanFile) -> PlanFile {
        PlanFile {
            axes: self.axes.clone(),
            report: self.report.clone(),
            sources: self.sources.clone(),
            part: self.part.clone(),
            ..file
        }
    }
}
