//! A stored run as reports see it: rows in the order of the spec's axes, with their total seconds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gpbench_record::{Axes, Environment, ReportOptions, Row, TaskKind, names};

use crate::error::Result;

/// A run, as a report reads it.
#[derive(Debug, Clone)]
pub struct Run {
    /// The run folder.
    pub dir: PathBuf,
    /// Name of the spec, or of the folder where none is stored.
    pub name: String,
    /// The newest row of each case, in the order of the spec's axes.
    pub rows: Vec<Row>,
    /// Number of planned cases, where a plan is stored.
    pub planned: Option<usize>,
    /// The machine and the programs, where stored.
    pub environment: Option<Environment>,
    /// Other machines or programs with which the run continued: its times are then not comparable.
    pub later_environments: Vec<Environment>,
    /// What could not be read, a sentence each.
    pub warnings: Vec<String>,
    /// Names on the axes, in the order of the spec.
    pub axes: Axes,
    /// What the spec asks of its report.
    pub options: ReportOptions,
    /// Bibliographic entries of solvers, by the solver's id in its plugin.
    pub sources: BTreeMap<String, String>,
}

impl Run {
    /// Reads a run folder.
    ///
    /// # Errors
    /// If the folder holds no journal, or a file of it cannot be read.
    pub fn open(dir: impl AsRef<Path>) -> Result<Run> {
        todo!("{}", dir.as_ref().display())
    }

    /// The tasks that the run's rows belong to.
    pub fn tasks(&self) -> Vec<TaskKind> {
        let of = |task: &TaskKind| self.rows.iter().any(|row| row.case.task.kind() == *task);
        TaskKind::ALL.into_iter().filter(of).collect()
    }

    /// The part of the run that belongs to one task.
    pub(crate) fn of_task(&self, task: TaskKind) -> Run {
        let mut part = self.clone();
        part.rows.retain(|row| row.case.task.kind() == task);
        part
    }

    /// Number of planned cases without a row.
    pub fn missing(&self) -> usize {
        self.planned.map_or(0, |planned| planned.saturating_sub(self.rows.len()))
    }

    /// Names of the solvers, in the order of the spec.
    pub fn solvers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.rows.iter().map(|row| row.labels.solver.as_str()).collect();
        names.sort_by_key(|name| rank(&self.axes.solver, name));
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

    /// Adds the total seconds to each row, and sorts the rows, which the engine shuffles, in the order of the spec.
    fn complete(mut self) -> Run {
        for row in &mut self.rows {
            let parts = [names::SECONDS_PREPARE, names::SECONDS_SOLVE].map(|name| row.metrics.get(name));
            if parts.iter().any(Option::is_some) {
                row.metrics.insert(names::SECONDS, parts.iter().flatten().sum());
            }
        }
        let axes = &self.axes;
        self.rows.sort_by_cached_key(|row| {
            let labels = &row.labels;
            let places = [
                rank(&axes.dataset, &labels.dataset),
                rank(&axes.kernel, &labels.kernel),
                rank(&axes.estimator, labels.estimator.as_deref().unwrap_or_default()),
                rank(&axes.solver, &labels.solver),
            ];
            (places, labels.seed, labels.repeat)
        });
        self
    }
}

/// Sort key of a name on an axis: its place in the spec, then its spelling.
fn rank(axis: &[String], name: &str) -> (usize, String) {
    (axis.iter().position(|other| other == name).unwrap_or(usize::MAX), name.to_owned())
}
