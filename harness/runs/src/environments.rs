//! The environments of a run: the one in which it began, and those in which it continued.

use std::path::{Path, PathBuf};

use gpbench_record::Environment;

use crate::{RunError, layout, object};

/// The stored environments of a run folder, the first one first; those that cannot be read are errors.
pub(crate) fn read(folder: &Path) -> Vec<Result<Environment, RunError>> {
    files(folder).map(|path| environment(&path)).collect()
}

/// The stored environments of a run folder that can be read, the first one first.
pub fn environments(folder: &Path) -> Vec<Environment> {
    read(folder).into_iter().filter_map(Result::ok).collect()
}

fn environment(path: &Path) -> Result<Environment, RunError> {
    serde_json::from_value(object::read(path)?).map_err(|error| object::damaged(path, error))
}

/// The files of environments, the first one first.
pub(crate) fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    (1..).map(|count| folder.join(layout::environment(count))).take_while(|path| path.exists())
}

/// Differences between the environment of a run that continues and the stored ones.
#[derive(Debug, Default)]
pub struct ComparedEnvironment {
    /// Names of the fields in which it differs from the one in which the run began, where that can be read.
    pub differences: Vec<&'static str>,
    /// A warning for each stored one that cannot be read. Its file stays as it is.
    pub warnings: Vec<String>,
}

/// The warning for an environment that cannot be read.
pub(crate) fn warning(error: &RunError) -> String {
    format!("{error}; what it says of the machine is unknown, and the file stays as it is")
}

/// The stored environment that is equal to this one, and its number among the files.
fn equal<'s>(
    stored: &'s [Result<Environment, RunError>],
    present: &Environment,
) -> Option<(usize, &'s Environment)> {
    let mut known = (1..).zip(stored).filter_map(|(count, read)| Some((count, read.as_ref().ok()?)));
    known.find(|(_, known)| known.differences(present).is_empty())
}

/// Notes in the stored environment that is equal to this one which share of the processors other programs used, unless it
/// already has a larger share.
pub(crate) fn note_load(folder: &Path, present: &Environment, share: f64) -> Result<(), RunError> {
    match equal(&read(folder), present) {
        Some((count, known)) if known.other_load.is_none_or(|most| most < share) => {
            write(folder, count, &Environment { other_load: Some(share), ..known.clone() })
        }
        _ => Ok(()),
    }
}

/// Stores an environment, or, where an equal one is stored, the revisions that this does not name.
pub(crate) fn add(folder: &Path, environment: &Environment) -> Result<ComparedEnvironment, RunError> {
    let stored = read(folder);
    if let Some((count, known)) = equal(&stored, environment) {
        let named: Vec<String> = known.revisions().collect();
        let mut all = known.clone();
        all.other_revisions.extend(environment.revisions().filter(|revision| !named.contains(revision)));
        if all != *known {
            write(folder, count, &all)?;
        }
    } else {
        // After every file, readable or not: none is replaced.
        write(folder, stored.len() + 1, environment)?;
    }
    let first = stored.first().and_then(|first| first.as_ref().ok());
    Ok(ComparedEnvironment {
        differences: first.map(|first| first.differences(environment)).unwrap_or_default(),
        warnings: stored.iter().filter_map(|read| read.as_ref().err()).map(warning).collect(),
    })
}

fn write(folder: &Path, count: usize, environment: &Environment) -> Result<(), RunError> {
    object::write(&folder.join(layout::environment(count)), environment)
}
