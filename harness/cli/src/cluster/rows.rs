//! Rows that come back from a cluster, on their way into the journal.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use gpbench_cluster::{ClusterError, ClusterFolder, FrontRow, Rows};
use gpbench_engine::{Clock as _, PlannedCase, Progress, SystemClock, row_without_runner};
use gpbench_record::{Environment, Manifest, Row};
use gpbench_runs::{Journal, PlanEntry, PlanFile, RunError, RunFolder};

/// The journal of a cluster run, and what its rows need.
#[derive(Debug)]
pub(crate) struct JournalRows {
    journal: Journal,
    folder: RunFolder,
    cluster: ClusterFolder,
    entries: HashMap<String, PlanEntry>,
    manifest: Manifest,
    /// Environments that the run folder has.
    stored: BTreeSet<String>,
    /// Rows since the last look.
    new: Vec<Row>,
}

impl JournalRows {
    pub(crate) fn new(
        journal: Journal,
        folder: &RunFolder,
        cluster: &ClusterFolder,
        plan: PlanFile,
        manifest: &Manifest,
    ) -> Self {
        let entries = plan.cases.into_iter().map(|entry| (entry.id.clone(), entry)).collect();
        Self {
            journal,
            folder: folder.clone(),
            cluster: cluster.clone(),
            entries,
            manifest: manifest.clone(),
            stored: BTreeSet::new(),
            new: Vec::new(),
        }
    }

    /// The ids of cases that have rows.
    pub(crate) fn ended(&self) -> Vec<String> {
        self.entries.keys().filter(|id| self.journal.status(id).is_some()).cloned().collect()
    }

    /// Rows that have come since the last call.
    pub(crate) fn take_new(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.new)
    }

    /// How far the run is.
    pub(crate) fn progress(&self) -> Progress {
        let statuses: Vec<_> = self.entries.keys().filter_map(|id| self.journal.status(id)).collect();
        let failed = statuses.iter().filter(|status| status.is_failure()).count();
        Progress { total: self.entries.len(), done: statuses.len(), failed }
    }

    /// Stores the environment that a row names in the run folder.
    fn add_environment(&mut self, kind: &str) -> Result<(), RunError> {
        if self.stored.contains(kind) {
            return Ok(());
        }
        let read = fs::read(self.cluster.environment(kind)).ok();
        let environment: Option<Environment> = read.and_then(|text| serde_json::from_slice(&text).ok());
        // One that cannot be read yet is read with the next row.
        if let Some(environment) = environment {
            self.folder.add_environment(&environment)?;
            self.stored.insert(kind.to_owned());
        }
        Ok(())
    }

    fn copy_row(&mut self, row: &Row, line: &[u8]) -> Result<(), RunError> {
        if let Some(kind) = &row.environment {
            self.add_environment(kind)?;
        }
        self.journal.copy(row, line)?;
        self.new.push(row.clone());
        Ok(())
    }

    fn write_row(&mut self, wanted: &FrontRow) -> Result<(), RunError> {
        let files = self.manifest.cases.get(&wanted.id);
        let Some((entry, files)) = self.entries.get(&wanted.id).zip(files) else { return Ok(()) };
        let planned = PlannedCase::of(entry, files);
        let row = row_without_runner(&wanted.id, &planned, wanted.status, &wanted.reason, SystemClock.now());
        self.journal.append(&row)?;
        self.new.push(row);
        Ok(())
    }
}

impl Rows for JournalRows {
    fn copy(&mut self, row: &Row, line: &[u8]) -> Result<(), ClusterError> {
        self.copy_row(row, line).map_err(lost)
    }

    fn write(&mut self, row: &FrontRow) -> Result<(), ClusterError> {
        self.write_row(row).map_err(lost)
    }
}

/// An error of the journal as one of the cluster run.
fn lost(error: RunError) -> ClusterError {
    match error {
        RunError::Io { action, path, source } => ClusterError::Io { action, path, source },
        other => ClusterError::Journal(other.to_string()),
    }
}
