//! Makes binary copies of data sets again during a run, as after `gpbench clean`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use gpbench_data::copy;
use gpbench_data::locate::SearchPlaces;
use gpbench_engine::Planned;
use gpbench_spec::OwnFiles;

use crate::args::Global;
use crate::dataset;

/// Where the data sets of a run come from.
pub(crate) struct Renewal {
    /// Where data sets are searched for.
    pub(crate) places: SearchPlaces,
    /// Whether to download nothing.
    pub(crate) offline: bool,
    /// The files of data sets that the spec names by a path, by the names of the data sets.
    pub(crate) files: BTreeMap<String, OwnFiles>,
    /// Held while a copy is made.
    pub(crate) busy: Mutex<()>,
}

impl Renewal {
    /// Makes the copy of a case's data set again, unless it is intact: another case may have needed it too.
    ///
    /// # Errors
    /// Why the copy that was planned cannot be made.
    pub(crate) fn renew(&self, global: &Global, planned: Planned<'_>) -> Result<(), String> {
        let (Some(file), Some(planned_sha256)) =
            (&planned.files.dataset_file, planned.fingerprint.dataset_sha256.as_deref())
        else {
            return Err("it has no data set to read".to_owned());
        };
        let _alone = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        if is_whole(file, planned_sha256) {
            return Ok(());
        }
        // If this fails, the copy stays as it is, and is refused again.
        let _ = fs::remove_file(file);
        let set = &planned.case.dataset;
        let own = self.files.get(&set.name);
        let made = dataset::obtain(global, &self.places, &set.source, own, self.offline);
        let made = made.map_err(|missing| format!("its copy cannot be made again: {}", missing.text))?;
        if made.path == *file && made.sha256.as_str() == planned_sha256 {
            return Ok(());
        }
        Err("the data set has changed since the run began: restore it, or start a new run with --fresh"
            .to_owned())
    }
}

/// Whether a copy can be read, and is the one that was planned.
fn is_whole(file: &Path, sha256: &str) -> bool {
    copy::read_identified(file).is_ok_and(|(_, found)| found.as_str() == sha256)
}
