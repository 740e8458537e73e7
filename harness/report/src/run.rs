//! A stored run, as reports see it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gpbench_record::{Axes, Environment, ReportOptions, Row, Shard, TaskKind, names, text};
use gpbench_runs::{MergedRun, RunRecord};

use crate::error::Result;
use crate::target;

/// A run, as a report reads it.
#[derive(Debug, Clone)]
pub struct Run {
    /// The run folder.
    pub folder: PathBuf,
    /// Name of the spec.
    pub name: String,
    /// The newest row of each case, in the order of the spec's axes, with its total seconds.
    pub rows: Vec<Row>,
    /// Number of planned cases without a row; of a merged run, those of absent shards too.
    pub missing: usize,
    /// Number of cases of the plan that belong to other shards.
    pub unlisted: usize,
    /// Which shard of a plan the run is, if it is one.
    pub shard: Option<Shard>,
    /// The runs whose rows were merged into this one; empty for a run of its own.
    pub merged: Vec<MergedRun>,
    /// The plan that a case belongs to, by id, where runs of different plans were merged.
    pub plans: BTreeMap<String, String>,
    /// Where the run took place: where it began, then each other environment in which it continued.
    pub environments: Vec<Environment>,
    /// Names on the axes, in the order of the spec; empty where no plan is stored.
    pub axes: Axes,
    /// What the spec asks of its report.
    pub options: ReportOptions,
    /// Bibliographic entries of solvers, by the solver's id in its plugin.
    pub sources: BTreeMap<String, String>,
    /// What the journal lacks, a sentence each: lines that cannot be read.
    pub warnings: Vec<String>,
    /// Whether the journal's last line is cut short, as by a process killed while writing.
    pub truncated: bool,
}

impl Run {
    /// Reads a run folder.
    ///
    /// # Errors
    /// If the folder holds no journal, or a file of it cannot be read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Run> {
        Ok(RunRecord::open(folder)?.into())
    }

    /// The tasks that the run's rows belong to.
    pub fn tasks(&self) -> Vec<TaskKind> {
        let of = |task: &TaskKind| self.rows.iter().any(|row| row.case.task.kind() == *task);
        TaskKind::ALL.into_iter().filter(of).collect()
    }

    /// What its cases are of: `learner` or `solver`.
    pub fn noun(&self) -> &'static str {
        if self.tasks() == [TaskKind::Learn] { "learner" } else { "solver" }
    }

    /// The part of the run that belongs to one task.
    pub(crate) fn of_task(&self, task: TaskKind) -> Run {
        let mut part = self.clone();
        part.rows.retain(|row| row.case.task.kind() == task);
        part
    }

    /// What rows of other runs call it: `<name>/<folder>`.
    pub(crate) fn label(&self) -> String {
        let folder = self.folder.file_name().unwrap_or_default();
        format!("{}/{}", self.name, folder.to_string_lossy())
    }

    /// Number of planned cases.
    pub fn planned(&self) -> usize {
        self.rows.len() + self.missing
    }

    /// Names of the solvers, in the order of the spec.
    pub fn solvers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.rows.iter().map(|row| row.labels.solver.as_str()).collect();
        let place = |name: &str| self.axes.solver.iter().position(|other| other == name);
        names.sort_by_key(|name| (place(name).unwrap_or(usize::MAX), *name));
        names.dedup();
        names
    }

    /// The solver that speed-ups are relative to: the spec's choice, else the first of several solvers.
    pub(crate) fn baseline_solver(&self) -> Option<&str> {
        let solvers = self.solvers();
        match &self.options.baseline {
            Some(name) => solvers.into_iter().find(|solver| solver == name),
            None => (solvers.len() > 1).then(|| solvers[0]),
        }
    }
}

impl From<RunRecord> for Run {
    fn from(stored: RunRecord) -> Run {
        let warnings = stored.warnings();
        let absent = if stored.shard.is_none() { stored.unlisted } else { 0 };
        let mut rows = stored.rows;
        for row in &mut rows {
            if let Some(seconds) = row.metrics.solver_seconds() {
                row.metrics.insert(names::SECONDS, seconds);
            }
        }
        if let Some(target) = &stored.report.target {
            target::insert(&mut rows, target);
        }
        Run {
            folder: stored.folder,
            name: text::cut(&stored.name, text::NAME).into_owned(),
            rows,
            missing: stored.missing.len() + absent,
            unlisted: stored.unlisted,
            shard: stored.shard,
            merged: stored.merged,
            plans: stored.plans,
            environments: stored.environments,
            axes: stored.axes,
            options: stored.report,
            sources: stored.sources,
            warnings,
            truncated: stored.truncated,
        }
    }
}
