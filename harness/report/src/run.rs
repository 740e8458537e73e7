//! A stored run, as reports see it.

use std::path::Path;

use gpbench_record::{Row, TaskKind, names, text};
use gpbench_runs::{EarlierPlugins, RunRecord};

use crate::error::Result;
use crate::optimum;
use crate::target;

/// A run that has been read for a report.
#[derive(Debug, Clone)]
pub struct Run {
    /// The content of its folder, with a name of bounded length and derived metrics in its rows: total seconds, distances to
    /// the best likelihood known and, where the spec has a target, the seconds and epochs to it.
    pub record: RunRecord,
    /// Warnings, a sentence each, about files and lines of the journal that cannot be read.
    pub warnings: Vec<String>,
}

impl Run {
    /// Reads a run folder.
    ///
    /// # Errors
    /// If the folder holds no journal, or a file of it cannot be read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Run> {
        let mut record = RunRecord::open(folder)?;
        record.before = EarlierPlugins::before(&record.folder);
        let warnings = record.warnings();
        record.name = text::cut(&record.name, text::NAME).into_owned();
        for row in &mut record.rows {
            if let Some(seconds) = row.metrics.solver_seconds() {
                row.metrics.insert(names::SECONDS, seconds);
            }
        }
        optimum::settle(&mut record.rows);
        if let Some(target) = &record.report.target {
            target::insert(&mut record.rows, target);
        }
        Ok(Run { record, warnings })
    }

    /// `learner` or `solver`, by the task of its cases.
    pub fn noun(&self) -> &'static str {
        noun(&tasks(self.record.rows.iter()))
    }

    /// Number of planned cases without a row; of a merged run, those of absent shards too.
    pub fn missing(&self) -> usize {
        let absent = if self.record.shard.is_none() { self.record.unlisted } else { 0 };
        self.record.missing.len() + absent
    }

    /// Number of planned cases, of a merged run those of absent shards too.
    pub fn planned(&self) -> usize {
        self.record.rows.len() + self.missing()
    }

    /// Name of the run folder.
    pub(crate) fn folder_name(&self) -> String {
        self.record.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Name by which rows of other runs refer to it: `<name>/<folder>`.
    pub(crate) fn label(&self) -> String {
        format!("{}/{}", self.record.name, self.folder_name())
    }
}

/// The tasks of some rows, in the order of all tasks.
pub(crate) fn tasks<'r>(rows: impl Iterator<Item = &'r Row> + Clone) -> Vec<TaskKind> {
    let has = |task: &TaskKind| rows.clone().any(|row| row.case.task.kind() == *task);
    TaskKind::ALL.into_iter().filter(has).collect()
}

/// `learner` or `solver`, by task.
pub(crate) fn noun(tasks: &[TaskKind]) -> &'static str {
    if tasks == [TaskKind::Learn] { "learner" } else { "solver" }
}
