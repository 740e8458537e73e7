//! The environments of a run: the one in which it began, and those in which it continued.

use std::fs;
use std::path::{Path, PathBuf};

use gpbench_files::{Durability, replace};
use gpbench_record::Environment;

use crate::RunError;
use crate::error::Context as _;
use crate::layout;

/// The environments of a run folder, the first one first. A file that cannot be read is left out.
pub(crate) fn read(folder: &Path) -> Vec<Environment> {
    let environment = |path: PathBuf| serde_json::from_slice(&fs::read(path).ok()?).ok();
    files(folder).filter_map(environment).collect()
}

/// The files of environments, the first one first.
fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    (1..).map(|count| folder.join(layout::environment(count))).take_while(|path| path.exists())
}

/// Stores an environment unless an equal one is stored. Returns the names of the fields in which it differs
/// from the first one.
pub(crate) fn add(folder: &Path, environment: &Environment) -> Result<Vec<&'static str>, RunError> {
    let known = read(folder);
    if !known.iter().any(|other| other.differences(environment).is_empty()) {
        // After every file, readable or not: none is replaced.
        let path = folder.join(layout::environment(files(folder).count() + 1));
        let text =
            serde_json::to_vec_pretty(environment).expect("plain data with text keys always serialises");
        replace(&path, Durability::Durable, |file| file.write_all(&text)).context("write", &path)?;
    }
    Ok(known.first().map(|first| first.differences(environment)).unwrap_or_default())
}
