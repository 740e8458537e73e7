//! A lock on a file, which is valid among all hosts that share its file system.
//!
//! The system's lock (`flock`) is released when its process ends, in any way. Some file systems have no such lock,
//! for instance Lustre mounted without `flock`, and on others it is invisible to other hosts. In these cases a lock
//! file beside the file serves as the lock, alone or in addition: see [`LockFile`].
//!
//! Hosts that mount a file system in different ways exclude each other only in part: a host with the system's lock
//! also respects a lock file, but a host without it does not see the system's lock of another host.

mod holder;
mod link;
mod mount;
mod system;

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

pub use self::holder::{Holder, LockError};
use self::link::LockFile;
use self::mount::flock_is_local;
use self::system::{holder_of, is_unsupported};

/// Interval at which a waiting process tries to get a lock.
const POLL: Duration = Duration::from_millis(100);

/// The kind of lock on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Locking {
    /// The system's lock where it excludes other hosts, else a lock file.
    #[default]
    Best,
    /// A lock file, `<file>.lock`, in every case.
    LockFile,
}

/// A lock on a file, held until it is dropped.
///
/// A file has at most one lock: a second one is refused, also within the same process.
#[derive(Debug)]
pub struct FileLock {
    /// The handle with the system's lock.
    system: Option<File>,
    lock_file: Option<LockFile>,
}

impl FileLock {
    /// Locks a file, which is open for writing and has the path `path`, or returns the holder of its lock. Does not
    /// wait.
    ///
    /// # Errors
    /// [`LockError::Busy`] if another process has locked it; errors of the file system.
    pub fn try_lock(file: &File, path: &Path, locking: Locking) -> Result<Self, LockError> {
        let system = match locking {
            Locking::LockFile => None,
            Locking::Best => lock_by_system(file)?,
        };
        let mut lock = Self { system, lock_file: None };
        let path = beside(path);
        // The lock file of a host without the system's lock counts too.
        if lock.system.is_none() || flock_is_local(file) || path.exists() {
            lock.lock_file = Some(LockFile::take(&path)?);
        }
        Ok(lock)
    }

    /// Locks a file like [`FileLock::try_lock`], but waits while another process has locked it.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn lock(file: &File, path: &Path, locking: Locking) -> io::Result<Self> {
        loop {
            match Self::try_lock(file, path, locking) {
                Ok(lock) => return Ok(lock),
                Err(LockError::Io(error)) => return Err(error),
                Err(LockError::Busy { .. } | LockError::Lost { .. }) => thread::sleep(POLL),
            }
        }
    }

    /// Checks that the lock is still held. A lock file is lost if its process was stopped for so long that another
    /// host considered it dead. Call this before each change of the locked data.
    ///
    /// # Errors
    /// [`LockError::Lost`]; errors of the file system.
    pub fn check(&self) -> Result<(), LockError> {
        self.lock_file.as_ref().map_or(Ok(()), LockFile::check)
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        self.lock_file = None;
        if let Some(file) = &self.system {
            // Without this, the lock would last as long as any other handle of the same open file.
            let _ = file.unlock();
        }
    }
}

/// Takes the system's lock of a file; `None` where the file system has no locks.
fn lock_by_system(file: &File) -> Result<Option<File>, LockError> {
    // Both handles share the lock.
    let handle = file.try_clone()?;
    match handle.try_lock() {
        Ok(()) => Ok(Some(handle)),
        Err(TryLockError::WouldBlock) => Err(LockError::Busy { holder: holder_of(file) }),
        Err(TryLockError::Error(error)) if is_unsupported(&error) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// The lock file of a file.
fn beside(path: &Path) -> PathBuf {
    path.with_added_extension("lock")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn open(path: &Path) -> File {
        File::options().create(true).append(true).open(path).unwrap()
    }

    fn busy(path: &Path, locking: Locking) -> Option<Holder> {
        match FileLock::try_lock(&open(path), path, locking) {
            Err(LockError::Busy { holder }) => holder,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_second_lock_is_refused_and_told_who_has_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for locking in [Locking::Best, Locking::LockFile] {
            let file = open(&path);
            let lock = FileLock::try_lock(&file, &path, locking).unwrap();
            lock.check().unwrap();
            assert_eq!(beside(&path).exists(), locking == Locking::LockFile);
            if let Some(holder) = busy(&path, locking) {
                assert_eq!(holder.process(), std::process::id());
            }
            drop(lock);
            // The file is still open.
            drop(FileLock::lock(&open(&path), &path, locking).unwrap());
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no lock file is left");
        }
    }

    #[test]
    fn a_lock_file_keeps_away_those_who_have_the_lock_of_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let lock = FileLock::try_lock(&open(&path), &path, Locking::LockFile).unwrap();
        assert_eq!(busy(&path, Locking::Best).unwrap().process(), std::process::id());
        drop(lock);
        // The lock file of a killed process does not.
        fs::write(
            beside(&path),
            format!("{}-4294967295 1 here\n", crate::process_tag().split_once('-').unwrap().0),
        )
        .unwrap();
        let lock = FileLock::try_lock(&open(&path), &path, Locking::Best).unwrap();
        lock.check().unwrap();
        drop(lock);
        assert!(!beside(&path).exists());
    }

    #[test]
    fn whoever_waits_gets_the_lock_in_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for locking in [Locking::Best, Locking::LockFile] {
            let lock = FileLock::lock(&open(&path), &path, locking).unwrap();
            thread::scope(|scope| {
                let other = scope.spawn(|| FileLock::lock(&open(&path), &path, locking).is_ok());
                drop(lock);
                assert!(other.join().unwrap());
            });
        }
    }
}
