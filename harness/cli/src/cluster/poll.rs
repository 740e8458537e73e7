//! The status of a cluster run that another gpbench has open.

use std::collections::HashMap;
use std::path::Path;

use gpbench_cluster::{ClusterFolder, Scheduler as _};
use gpbench_engine::{SystemClock, WallClock as _};
use gpbench_record::PlannedCase;
use gpbench_runs::{PlanFile, RunFolder, read_journal};

use super::failure;
use super::rows::block;
use super::run::slurm;
use super::status::status;
use crate::args::Global;
use crate::exit::Failure;
use crate::notice::warn;

/// The status of the run, from its files and one query of Slurm. Nothing is written.
pub(crate) fn poll(global: &Global, folder: &Path) -> Result<String, Failure> {
    let cluster = ClusterFolder::of(folder);
    let manifest = cluster.read_manifest().map_err(failure)?;
    let plan = PlanFile::read(folder).map_err(Failure::internal)?;
    let journal = read_journal(folder).map_err(Failure::internal)?;
    let failed = journal.rows.iter().filter(|row| row.status.is_failure()).count();
    let rows = journal.rows.into_iter().map(|row| row.id).collect();
    let now = SystemClock.now();
    let mut front = gpbench_cluster::read_front(&cluster, &manifest, rows, now).map_err(failure)?;
    match slurm(&RunFolder::at(folder), &manifest).poll() {
        Ok(tasks) => front.polled(&tasks, now),
        Err(error) => warn(global, error),
    }
    let entries: HashMap<&str, &PlannedCase> =
        plan.cases.iter().map(|entry| (entry.id.as_str(), entry)).collect();
    let block = |id: &str| entries.get(id).map(|entry| block(entry));
    Ok(status(&plan.name, &front.summary(), failed, &block))
}
