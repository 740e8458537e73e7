//! Rows that come back from a cluster, and the journal that they are copied to.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;

use gpbench_cluster::{ClusterError, ClusterFolder, FrontRow, RunJournal};
use gpbench_engine::{FinishedCases, RunProgress, SystemClock, WallClock as _, row_without_runner};
use gpbench_record::{Environment, PlannedCase, Row};
use gpbench_runs::{Journal, PlanFile, RunError, RunFolder};

/// The journal of a cluster run, and the stores that its rows are copied to.
#[derive(Debug)]
pub(crate) struct JournalRows {
    journal: Journal,
    folder: RunFolder,
    cluster: ClusterFolder,
    entries: HashMap<String, PlannedCase>,
    /// Environments of nodes, which the run folder has.
    environments: HashMap<String, Environment>,
    /// Keeps rows for later runs.
    finished: Option<FinishedCases>,
    /// Rows since the last call of [`JournalRows::take_new`].
    new: Vec<Row>,
    /// Messages since the last call of [`JournalRows::take_notes`].
    notes: Vec<String>,
}

impl JournalRows {
    pub(crate) fn new(journal: Journal, folder: &RunFolder, cluster: &ClusterFolder, plan: PlanFile) -> Self {
        let finished = FinishedCases::of(folder, &plan.name);
        let entries = plan.cases.into_iter().map(|entry| (entry.id.clone(), entry)).collect();
        Self {
            journal,
            folder: folder.clone(),
            cluster: cluster.clone(),
            entries,
            environments: HashMap::new(),
            finished,
            new: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The ids of cases that have rows.
    pub(crate) fn ended(&self) -> Vec<String> {
        self.entries.keys().filter(|id| self.journal.status(id).is_some()).cloned().collect()
    }

    /// New rows since the last call.
    pub(crate) fn take_new(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.new)
    }

    /// Messages since the last call.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// The name of the block of a case, which all cases of its task share.
    pub(crate) fn block(&self, id: &str) -> Option<String> {
        self.entries.get(id).map(block)
    }

    /// The progress of the run.
    pub(crate) fn progress(&self) -> RunProgress {
        let statuses: Vec<_> = self.entries.keys().filter_map(|id| self.journal.status(id)).collect();
        let failed = statuses.iter().filter(|status| status.is_failure()).count();
        RunProgress { total: self.entries.len(), done: statuses.len(), failed }
    }

    /// The environment that a row names, which the run folder then has. One that cannot be read yet is read with the next row.
    fn environment(&mut self, kind: &str) -> Result<Option<&Environment>, RunError> {
        match self.environments.entry(kind.to_owned()) {
            Entry::Occupied(known) => Ok(Some(known.into_mut())),
            Entry::Vacant(place) => {
                let read = fs::read(self.cluster.environment(kind)).ok();
                let read: Option<Environment> = read.and_then(|text| serde_json::from_slice(&text).ok());
                let Some(environment) = read else { return Ok(None) };
                self.folder.add_environment(&environment)?;
                Ok(Some(place.insert(environment)))
            }
        }
    }

    /// Keeps a row for later runs, if it may be re-used. `environment`: where it ran.
    fn keep(&mut self, row: &Row, environment: Option<Environment>) {
        let kept = self.finished.as_ref().zip(environment);
        self.notes.extend(kept.and_then(|(finished, environment)| finished.keep(row, &environment)));
    }

    fn copy_row(&mut self, row: &Row, line: &[u8]) -> Result<(), RunError> {
        let environment = match &row.environment {
            Some(kind) => self.environment(kind)?.cloned(),
            None => None,
        };
        self.journal.copy(row, line)?;
        self.keep(row, environment);
        self.new.push(row.clone());
        Ok(())
    }

    fn write_row(&mut self, wanted: &FrontRow) -> Result<(), RunError> {
        let Some(planned) = self.entries.get(&wanted.id) else { return Ok(()) };
        let row = row_without_runner(planned, wanted.status, &wanted.reason, SystemClock.now());
        self.journal.append(&row)?;
        self.new.push(row);
        Ok(())
    }
}

impl RunJournal for JournalRows {
    fn copy(&mut self, row: &Row, line: &[u8]) -> Result<(), ClusterError> {
        self.copy_row(row, line).map_err(lost)
    }

    fn write(&mut self, row: &FrontRow) -> Result<(), ClusterError> {
        self.write_row(row).map_err(lost)
    }
}

/// The name of the block of a case, which all cases of its task share.
pub(super) fn block(entry: &PlannedCase) -> String {
    let (dataset, kernel, estimator, seed) = entry.labels.block();
    let names = [Some(dataset), Some(kernel), estimator].into_iter().flatten();
    names.chain([format!("seed {seed}").as_str()]).collect::<Vec<_>>().join("/")
}

/// An error of the journal as one of the cluster run.
fn lost(error: RunError) -> ClusterError {
    match error {
        RunError::Io { action, path, source } => ClusterError::Io { action, path, source },
        other => ClusterError::Journal(other.to_string()),
    }
}
