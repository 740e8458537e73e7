//! The store of finished cases: rows that later runs re-use, each a file of its own.

use std::fs;
use std::path::{Path, PathBuf};

use gpbench_files::{Durability, remove_stale};
use gpbench_record::{Environment, Row, SCHEMA};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Context as _;
use crate::layout::FINISHED;
use crate::{RunError, object};

/// Most bytes of a finished case that are read. Rows with the longest traces have a tenth of them.
const MOST_BYTES: u64 = 256 << 20;

/// A finished case as the store keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinishedCase {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The run in which it ran: `<name>/<folder>`.
    pub run: String,
    /// Where it ran.
    pub environment: Environment,
    /// Its row.
    pub row: Row,
}

/// The finished cases below an output folder, by id: `<output folder>/.finished/<id>.json`.
///
/// Ids hash everything that can change a result, so a case with the same id has the same result. A file is replaced as a
/// whole, and several processes may use a store at once.
#[derive(Debug, Clone)]
pub struct FinishedStore {
    folder: PathBuf,
}

impl FinishedStore {
    /// The store of an output folder. Nothing is made before a case is kept. Files that a process did not finish before it was
    /// killed are removed.
    pub fn of(output_dir: &Path) -> Self {
        let folder = output_dir.join(FINISHED);
        remove_stale(&folder);
        Self { folder }
    }

    /// Its folder, which can be removed as a whole.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// The finished case with an id, if it is kept. One of a later version counts as absent.
    ///
    /// # Errors
    /// When its file cannot be read, is no regular file or too large, or is not as it was written.
    pub fn get(&self, id: &str) -> Result<Option<FinishedCase>, RunError> {
        let path = self.path(id);
        if fs::symlink_metadata(&path).is_err() {
            return Ok(None);
        }
        let value = object::read_at_most(&path, MOST_BYTES)?;
        if value.get("schema").and_then(Value::as_u64) != Some(u64::from(SCHEMA)) {
            return Ok(None);
        }
        let case: FinishedCase =
            serde_json::from_value(value).map_err(|error| object::damaged(&path, error))?;
        if case.row.id != id {
            return Err(object::damaged(&path, "it holds another case"));
        }
        Ok(Some(case))
    }

    /// Keeps a finished case instead of an earlier one with its id.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn put(&self, case: &FinishedCase) -> Result<(), RunError> {
        fs::create_dir_all(&self.folder).context("create", &self.folder)?;
        // A power cut may lose it: the case then runs again.
        object::write_with(&self.path(&case.row.id), case, Durability::Whole)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use gpbench_record::testing;

    use super::*;

    fn finished(id: &str) -> FinishedCase {
        let row = testing::row(testing::case("cg"), &[("rmse", 0.5)]);
        let row = Row { id: id.into(), ..row };
        FinishedCase { schema: SCHEMA, run: "toy/1".into(), environment: Environment::default(), row }
    }

    #[test]
    fn what_is_kept_is_read_back() {
        let output = tempfile::tempdir().unwrap();
        let store = FinishedStore::of(output.path());
        let case = finished("00ff");
        let id = case.row.id.clone();
        assert_eq!(store.get(&id).unwrap(), None);
        store.put(&case).unwrap();
        assert_eq!(store.get(&id).unwrap(), Some(case));
        fs::remove_dir_all(store.folder()).unwrap();
        assert_eq!(store.get(&id).unwrap(), None);
    }

    #[test]
    fn what_is_no_regular_file_of_bounded_size_is_an_error() {
        let output = tempfile::tempdir().unwrap();
        let store = FinishedStore::of(output.path());
        let case = finished("00ff");
        store.put(&case).unwrap();
        let file = store.path("00ff");
        for target in ["/dev/zero", "/dev/tty", "/proc/self/mem", "/", "/nowhere"] {
            fs::remove_file(&file).unwrap();
            symlink(target, &file).unwrap();
            let error = store.get("00ff").unwrap_err();
            assert!(matches!(error, RunError::Io { .. }), "{target}: {error}");
        }
        fs::remove_file(&file).unwrap();
        fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
        assert!(store.get("00ff").unwrap_err().to_string().contains("bytes"));
        // The file is replaced when the case has run again.
        store.put(&case).unwrap();
        assert_eq!(store.get("00ff").unwrap(), Some(case));
    }

    #[test]
    fn a_damaged_file_or_that_of_another_case_is_an_error() {
        let output = tempfile::tempdir().unwrap();
        let store = FinishedStore::of(output.path());
        let case = finished("00ff");
        store.put(&case).unwrap();
        let file = store.path(&case.row.id);
        fs::copy(&file, store.path("other")).unwrap();
        assert!(matches!(store.get("other"), Err(RunError::Damaged { .. })));
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("0.5", "0.4")).unwrap();
        assert!(matches!(store.get(&case.row.id), Err(RunError::Damaged { .. })));
    }
}
