//! A run that is merged into another.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use gpbench_record::{Environment, Row, revisions};

use super::meaning::{Spec, Specified};
use crate::lookup::id;
use crate::{MergedRun, PlanFile, RunError, RunRecord, layout};

/// A run that is merged into another.
pub(super) struct Source {
    /// The run folder.
    pub(super) folder: PathBuf,
    /// The run, as rows name it: `<name>/<folder>`.
    pub(super) run: String,
    /// Its plan.
    pub(super) plan: PlanFile,
    /// Its spec as typed.
    pub(super) spec_text: String,
    /// Its spec; empty where it cannot be read.
    pub(super) spec: Spec,
    /// Its rows by id. Each names the run and the environment in which its case ran, as far as they are known.
    pub(super) rows: HashMap<String, Row>,
    /// Its environments.
    pub(super) environments: Vec<Environment>,
    /// Warnings about parts that cannot be read.
    pub(super) warnings: Vec<String>,
}

impl Source {
    /// Reads a run folder. `before` are the runs that were read before it.
    ///
    /// # Errors
    /// When there is no journal, or it or the plan cannot be read.
    pub(super) fn read(folder: &Path, before: &[Self]) -> Result<Self, RunError> {
        let record = RunRecord::open(folder)?;
        let plan = PlanFile::read(folder)?;
        let run = name(folder, &plan, before);
        let environment = match &record.environments[..] {
            [only] => Some(only.kind()),
            _ => None,
        };
        let named = |row: Row| Row {
            reused_from: row.reused_from.or_else(|| Some(run.clone())),
            environment: row.environment.or_else(|| environment.clone()),
            ..row
        };
        let spec_text = layout::read_spec(folder);
        Ok(Self {
            folder: folder.to_owned(),
            spec: spec_text.parse().unwrap_or_default(),
            spec_text,
            warnings: record.warnings().into_iter().map(|warning| format!("{run}: {warning}")).collect(),
            rows: record.rows.into_iter().map(|row| (row.id.clone(), named(row))).collect(),
            environments: record.environments,
            run,
            plan,
        })
    }

    /// Its cases, each with its spec.
    pub(super) fn cases(&self) -> impl Iterator<Item = Specified<'_>> {
        self.plan.cases.iter().map(|entry| (entry, &self.spec))
    }

    /// The plans that its cases are of.
    pub(super) fn plans(&self) -> HashSet<String> {
        let digest = self.plan.digest();
        self.plan.cases.iter().map(|entry| entry.plan.clone().unwrap_or_else(|| digest.clone())).collect()
    }

    /// The runs whose rows it has, before their rows are counted: itself, and those that were merged into it.
    pub(super) fn origins(&self) -> impl Iterator<Item = MergedRun> {
        let merged = self.plan.merged.iter().map(|merged| MergedRun { rows: 0, ..merged.clone() });
        let shard = self.plan.part.as_ref().and_then(|part| part.shard);
        merged.chain([MergedRun {
            run: self.run.clone(),
            shard,
            plan: self.plan.digest(),
            revision: revisions(&self.environments),
            rows: 0,
            left_out: 0,
        }])
    }

    /// The one of these runs that a row is of.
    pub(super) fn origin<'r>(&'r self, row: &'r Row) -> &'r str {
        let named = row.reused_from.as_deref();
        named.filter(|named| self.plan.merged.iter().any(|merged| merged.run == *named)).unwrap_or(&self.run)
    }
}

/// The name of a run, `<name>/<folder>`. Two machines that begin the same cases in the same second make runs of one name,
/// of which the later one gets a number. A copy of a run has the time of its plan too, and keeps the name.
fn name(folder: &Path, plan: &PlanFile, before: &[Source]) -> String {
    let own = format!("{}/{}", plan.name, id(folder));
    let is_others =
        |name: &str| before.iter().any(|other| other.run == name && other.plan.created != plan.created);
    let (mut name, mut count) = (own.clone(), 1);
    while is_others(&name) {
        count += 1;
        name = format!("{own}-{count}");
    }
    name
}
