//! The mark of a reference that is being made. It stays where the making is interrupted, however that happens.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A mark beside the file of a reference, locked until it is dropped.
pub(crate) struct Begun {
    path: PathBuf,
    _locked: File,
}

impl Begun {
    /// Marks a reference; whether an earlier making of it was interrupted. One that goes on in another process is none.
    ///
    /// # Errors
    /// Those of the file system.
    pub(crate) fn mark(reference: &Path) -> io::Result<(Begun, bool)> {
        let path = reference.with_extension("begun");
        let was_begun = path.exists();
        let file = File::options().create(true).append(true).open(&path)?;
        let is_alone = file.try_lock().is_ok();
        Ok((Begun { path, _locked: file }, was_begun && is_alone))
    }

    /// Removes the mark: the reference is made, or cannot be made.
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
        let reference = folder.path().join("key.bin");
        let (first, interrupted) = Begun::mark(&reference).unwrap();
        assert!(!interrupted);
        // Another process makes it at the same time.
        assert!(!Begun::mark(&reference).unwrap().1);
        drop(first);
        let (again, interrupted) = Begun::mark(&reference).unwrap();
        assert!(interrupted);
        again.end();
        assert!(!Begun::mark(&reference).unwrap().1);
    }
}
