//! `plan.json`: the cases of a run, and what its report needs of the spec.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use gpbench_record::{
    Axes, DatasetNotes, PartOfPlan, PlannedCase, ReportOptions, SCHEMA, Shard, plan_digest,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::contents::{NameKind, OtherContent, contents};
use crate::layout::PLAN;
use crate::{RunError, layout, object, upgrade};

/// The plan of a run, as resolved from its spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanFile {
    /// [`gpbench_record::SCHEMA`].
    pub schema: u32,
    /// The spec's name.
    pub name: String,
    /// UTC time at which the run began.
    pub created: String,
    /// The names on the spec's axes.
    pub axes: Axes,
    /// Options of the report.
    pub report: ReportOptions,
    /// Bibliographic entries of the solvers that are used, by plugin id.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
    /// Notes on the reading of data sets, by their names on the axis.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dataset_notes: BTreeMap<String, DatasetNotes>,
    /// Which part of a larger plan this is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartOfPlan>,
    /// The runs whose rows were merged into this one, but for those that were merged themselves: in their place are the runs
    /// that these were made of. Empty for a run of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<MergedRun>,
    /// The names of a merged run whose data or plugins have another content than those of a name that came first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_contents: Vec<OtherContent>,
    /// The cases, in the order in which they run.
    pub cases: Vec<PlannedCase>,
}

/// What decides how the rest of a plan is read.
#[derive(Debug, Deserialize)]
struct Form {
    schema: Option<u64>,
}

/// A run whose rows were merged into another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedRun {
    /// The run: `<name>/<folder>`.
    pub run: String,
    /// Which part of a plan it is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The plan that it has cases of, as [`PlanFile::digest`] names it.
    #[serde(default)]
    pub plan: String,
    /// Git revision of the work tree that its spec lies in, as [`gpbench_record::Environment::revision`] writes it; several
    /// of a run that continued with another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Rows that were taken from it.
    pub rows: usize,
    /// Rows of it that were left out, because another run has one of the same case.
    #[serde(default)]
    pub left_out: usize,
}

impl PlanFile {
    /// A plan of the current schema without cases and report options.
    pub fn new(name: impl Into<String>, created: Timestamp) -> Self {
        Self {
            schema: SCHEMA,
            name: name.into(),
            created: created.to_string(),
            axes: Axes::default(),
            report: ReportOptions::default(),
            sources: BTreeMap::new(),
            dataset_notes: BTreeMap::new(),
            part: None,
            merged: Vec::new(),
            other_contents: Vec::new(),
            cases: Vec::new(),
        }
    }

    /// Reads the plan of a run folder.
    ///
    /// # Errors
    /// [`RunError::Damaged`] when the file is not a plan, or has changed since it was written; when it is missing,
    /// or was written by a later version.
    pub fn read(folder: &Path) -> Result<Self, RunError> {
        let path = folder.join(PLAN);
        let text = object::read_text(&path)?;
        let Form { schema } = object::parse(&path, &text)?;
        match schema {
            Some(1) => {
                // Schema 1 kept axes and report options in the spec alone.
                let spec = layout::read_spec(folder);
                let upgraded = upgrade::plan(object::parse(&path, &text)?, &spec)
                    .ok_or_else(|| object::damaged(&path, "it is not a plan of schema 1"))?;
                serde_json::from_value(upgraded).map_err(|error| object::damaged(&path, error))
            }
            Some(schema) if schema > u64::from(SCHEMA) => Err(RunError::Newer { path, schema }),
            _ => object::parse(&path, &text),
        }
    }

    /// The ids of its cases, in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.cases.iter().map(|entry| entry.id.as_str())
    }

    /// The digest of the whole plan, of which this may be a part.
    pub fn digest(&self) -> String {
        let own = || plan_digest(self.cases.iter().map(|entry| &entry.case));
        self.part.as_ref().map_or_else(own, |part| part.plan.clone())
    }

    /// Cases of the whole plan, of which this may be a part.
    pub fn planned(&self) -> usize {
        self.cases.len() + self.part.as_ref().map_or(0, |part| part.others.len())
    }

    /// The contents that names of a kind stand for in its cases, as SHA-256 of binary copies or of libraries.
    pub(crate) fn contents(&self, kind: NameKind) -> BTreeMap<String, BTreeSet<String>> {
        let of_names = contents(&self.cases).into_iter();
        let of_kind = of_names.filter(|((of, _), known)| *of == kind && !known.is_empty());
        let owned = |known: BTreeSet<&str>| known.into_iter().map(str::to_owned).collect();
        of_kind.map(|((_, name), known)| (name.to_owned(), owned(known))).collect()
    }

    /// Whether its cases are these, in whatever order.
    pub(crate) fn has_cases(&self, ids: &[&str]) -> bool {
        let own: HashSet<&str> = self.ids().collect();
        own.len() == ids.len() && ids.iter().all(|id| own.contains(id))
    }
}
