//! Where the files of references are: in the cache, which later runs read too, or, where nothing can be written to
//! the cache, in a folder of this run.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use gpbench_files::{process_tag, remove_stale};

/// The folders of references.
pub(super) struct Places {
    cache: PathBuf,
    /// The folder of references that cannot be stored; removed at the end of the run.
    own: PathBuf,
    /// Set once the cache has been found unwritable.
    is_refused: OnceLock<()>,
    /// Names of files in the cache that cannot be read and cannot be removed.
    avoided: Mutex<HashSet<String>>,
}

impl Places {
    /// The cache, and a folder for this run in `scratch`.
    pub(super) fn new(cache: PathBuf, scratch: &Path) -> Self {
        remove_stale(&cache);
        let own = scratch.join(format!("exact.{}.part", process_tag()));
        Self { cache, own, is_refused: OnceLock::new(), avoided: Mutex::default() }
    }

    /// The file of a reference that exists, or else where it is to be written.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        let stored = self.cache.join(name);
        let is_refused = self.is_refused.get().is_some() && !stored.is_file();
        if is_refused || self.avoided().contains(name) { self.own.join(name) } else { stored }
    }

    /// Makes the folder that a reference is written to. Returns a warning where the cache is found unwritable now.
    ///
    /// # Errors
    /// Where the folder of this run cannot be made either.
    pub(super) fn open(&self, name: &str) -> io::Result<Option<String>> {
        if !self.is_cache(&self.path(name)) {
            fs::create_dir_all(&self.own)?;
            return Ok(None);
        }
        try_file(&self.cache).or_else(|error| self.refuse(&error.to_string()))
    }

    /// Writes to the folder of this run from now on, because writing to the cache failed with `reason`. Returns the
    /// warning, unless it was given before.
    ///
    /// # Errors
    /// Where the folder of this run cannot be made.
    pub(super) fn refuse(&self, reason: &str) -> io::Result<Option<String>> {
        fs::create_dir_all(&self.own)?;
        let is_first = self.is_refused.set(()).is_ok();
        let folder = self.cache.display();
        let what = "exact references are computed for this run alone, since they cannot be stored";
        Ok(is_first.then(|| format!("{what}: {folder}: {reason}")))
    }

    /// Leaves the stored file of a reference, which cannot be read and cannot be removed, aside in this run.
    pub(super) fn avoid(&self, name: &str) {
        self.avoided().insert(name.to_owned());
    }

    fn avoided(&self) -> MutexGuard<'_, HashSet<String>> {
        self.avoided.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a file would be stored in the cache.
    pub(super) fn is_cache(&self, path: &Path) -> bool {
        path.starts_with(&self.cache)
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        // What cannot be removed is removed when a later run finds it stale.
        let _ = fs::remove_dir_all(&self.own);
    }
}

/// Makes a folder and tries to write a file in it.
fn try_file(folder: &Path) -> io::Result<Option<String>> {
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("trial.{}.part", process_tag()));
    let made = File::create(&path);
    let _ = fs::remove_file(&path);
    made.map(|_| None)
}
