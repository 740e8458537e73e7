//! Solutions that a run keeps for others to verify.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::RunError;
use crate::error::Context as _;
use crate::layout::{SOLUTIONS, solved_id};

/// The solutions that a run folder keeps, by the ids of their cases.
pub fn kept_solutions(folder: &Path) -> BTreeMap<String, PathBuf> {
    let entries = fs::read_dir(folder.join(SOLUTIONS)).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let kept =
        files.filter_map(|entry| Some((solved_id(entry.file_name().to_str()?)?.to_owned(), entry.path())));
    kept.collect()
}

/// Copies kept solutions into another folder of the same run.
///
/// # Errors
/// Those of the file system.
pub fn copy_solutions<'p>(solutions: impl IntoIterator<Item = &'p Path>, to: &Path) -> Result<(), RunError> {
    let folder = to.join(SOLUTIONS);
    fs::create_dir_all(&folder).context("create", &folder)?;
    for file in solutions {
        let copy = folder.join(file.file_name().unwrap_or_default());
        fs::copy(file, &copy).context("write", &copy)?;
    }
    Ok(())
}
