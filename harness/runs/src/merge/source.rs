//! A run that is merged into another.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gpbench_record::{Environment, Row};

use crate::{PlanFile, RunError, RunRecord};

/// A run that is merged into another.
pub(super) struct Source {
    /// The run folder.
    pub(super) folder: PathBuf,
    /// The run, as rows name it: `<name>/<folder>`.
    pub(super) run: String,
    /// Its plan.
    pub(super) plan: PlanFile,
    /// Its rows by id. Each names the run and the environment in which its case ran, as far as they are known.
    pub(super) rows: HashMap<String, Row>,
    /// Where it took place.
    pub(super) environments: Vec<Environment>,
    /// What cannot be read of it.
    pub(super) warnings: Vec<String>,
}

impl Source {
    /// Reads a run folder.
    ///
    /// # Errors
    /// When there is no journal, or it or the plan cannot be read.
    pub(super) fn read(folder: &Path) -> Result<Self, RunError> {
        let record = RunRecord::open(folder)?;
        let plan = PlanFile::read(folder)?;
        let run = format!("{}/{}", plan.name, folder.file_name().unwrap_or_default().to_string_lossy());
        let environment = match &record.environments[..] {
            [only] => Some(only.kind()),
            _ => None,
        };
        let named = |row: Row| Row {
            reused_from: row.reused_from.or_else(|| Some(run.clone())),
            environment: row.environment.or_else(|| environment.clone()),
            ..row
        };
        Ok(Self {
            folder: folder.to_owned(),
            warnings: record.warnings().into_iter().map(|warning| format!("{run}: {warning}")).collect(),
            rows: record.rows.into_iter().map(|row| (row.id.clone(), named(row))).collect(),
            environments: record.environments,
            run,
            plan,
        })
    }
}
