//! The check before a run on this computer whether cases of its run folder were sent to a cluster.

use std::collections::HashSet;

use gpbench_cluster::ClusterFolder;
use gpbench_runs::{Journal, RunFolder};

use super::command;
use super::run::ClusterRun;
use crate::args::{Continuation, Global};
use crate::exit::Failure;
use crate::prepare::Prepared;
use crate::progress::Progress;

/// Copies rows that have come from a cluster to the run folder that a plan continues. Refuses where tasks may still be queued or
/// running there: cases would run twice.
pub(crate) fn settle(global: &Global, prepared: &Prepared, earlier: &Continuation) -> Result<(), Failure> {
    if earlier.fresh {
        return Ok(());
    }
    let plan = &prepared.plan.file;
    let ids: Vec<&str> = plan.ids().collect();
    let found = RunFolder::find(&global.output_dir, &plan.name, &ids);
    let Some(folder) = found.ok().filter(|folder| ClusterFolder::of(folder.path()).ledger().exists()) else {
        return Ok(());
    };
    // Another process that has the folder open is reported when the run begins.
    let Ok((journal, _)) = Journal::open(folder.path()) else { return Ok(()) };
    let path = folder.path().to_owned();
    let mut run = ClusterRun::open(folder, journal, &HashSet::new(), false)?;
    run.take_over(&mut Progress::plain(global))?;
    let Some(living) = run.living() else { return Ok(()) };
    Err(Failure::usage(format!(
        "{} was sent to a cluster: {living}; `{}` continues the run there, and after `{}` it continues on this computer",
        path.display(),
        command("watch", &path),
        command("cancel", &path)
    )))
}
