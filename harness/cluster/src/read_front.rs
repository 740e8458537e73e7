//! The state of a run that another front may have open, from its files. Writes nothing.

use std::collections::HashSet;

use gpbench_record::Manifest;
use jiff::Timestamp;

use crate::ClusterError;
use crate::folder::ClusterFolder;
use crate::front::{Front, Policy};
use crate::limits::ClusterLimits;
use crate::part::PartReader;
use crate::store::RestoredRun;

/// A front with the state that the files of a run hold now. `rows`: ids of the cases that have rows in its journal.
///
/// # Errors
/// Those of the file system.
pub fn read_front(
    folder: &ClusterFolder,
    manifest: &Manifest,
    rows: HashSet<String>,
    now: Timestamp,
) -> Result<Front, ClusterError> {
    let RestoredRun { ledger, parts } = RestoredRun::read(folder)?;
    let policy = Policy::of(&manifest.site);
    let mut front = Front::new(manifest, ClusterLimits::default(), policy, rows, &ledger, &parts, now);
    for attempt in front.watched() {
        for line in PartReader::new(folder.part(attempt)).read()?.lines {
            front.hear(attempt, &line.line, now);
        }
    }
    Ok(front)
}
