//! A mark of an exact reference that is being computed. It remains if the computation is interrupted.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use gpbench_files::{FileLock, Locking};

/// A mark beside the file of a reference, locked until it is dropped.
pub(crate) struct Begun {
    path: PathBuf,
    /// `None` where another process has it.
    _lock: Option<FileLock>,
}

impl Begun {
    /// Marks a reference; whether an earlier computation of it was interrupted. One that is in progress in another process was
    /// not.
    ///
    /// # Errors
    /// Those of the file system.
    pub(crate) fn mark(reference: &Path) -> io::Result<(Begun, bool)> {
        Self::mark_by(reference, Locking::default())
    }

    /// [`Begun::mark`], locked in this way.
    fn mark_by(reference: &Path, locking: Locking) -> io::Result<(Begun, bool)> {
        let path = reference.with_extension("begun");
        let was_begun = path.exists();
        let file = File::options().create(true).append(true).open(&path)?;
        let lock = FileLock::try_lock(&file, &path, locking).ok();
        let is_alone = lock.is_some();
        Ok((Begun { path, _lock: lock }, was_begun && is_alone))
    }

    /// Removes the mark: the reference has been computed, or cannot be.
    pub(crate) fn end(self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_is_left_tells_of_an_interruption() {
        let folder = tempfile::tempdir().unwrap();
        for locking in [Locking::Best, Locking::LockFile] {
            let reference = folder.path().join(format!("{locking:?}.safetensors"));
            let mark = || Begun::mark_by(&reference, locking).unwrap();
            let (first, interrupted) = mark();
            assert!(!interrupted);
            // Another process makes it at the same time.
            assert!(!mark().1);
            drop(first);
            let (again, interrupted) = mark();
            assert!(interrupted);
            again.end();
            assert!(!mark().1);
        }
    }
}
