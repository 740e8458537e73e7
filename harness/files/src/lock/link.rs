//! Lock files, for file systems without locks.
//!
//! A process writes a complete file under another name and links it (`link(2)`) to the name of the lock. This
//! succeeds for one process only, on NFS too. The file names the holder of the lock. A thread renews the file's
//! modification time, the heartbeat, every half minute. A lock is stale if its process has ended or, for a process of
//! another host, if its heartbeat is 10 minutes old. Ages are differences of times given by the file system, so the
//! clocks of hosts need not agree.
//!
//! Several processes may find a stale lock at once. Only the process that has linked its file to a second name, the
//! guard, may remove it. Two races remain, which [`LockFile::check`] detects: a process that continues after it was
//! stopped for 10 minutes, and the moment after a process was killed while it had the guard.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, SystemTime};

use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, futimens};
use tempfile::TempPath;

use super::holder::{Holder, LockError};
use crate::process::process_tag;
use crate::regular::open_regular;
use crate::replace::folder_of;
use crate::stale::remove_stale;

/// Time between two heartbeats.
const BEAT: Duration = Duration::from_secs(30);
/// Age of the last heartbeat from which on a lock of another host is stale.
const BROKEN_AFTER: Duration = Duration::from_secs(10 * 60);
/// Number of attempts to take a lock whose holder changes.
const TRIES: usize = 5;
/// Time for which a process waits while another one removes a stale lock.
const PAUSE: Duration = Duration::from_millis(10);
/// Largest number of bytes that are read from a lock file.
const LONGEST: u64 = 4096;

/// A lock file that this process holds. Dropping it removes the file.
#[derive(Debug)]
pub(super) struct LockFile {
    path: PathBuf,
    /// Content of the file.
    text: String,
    /// Channel whose drop ends the heartbeat thread.
    stop: Option<Sender<()>>,
    beats: Option<JoinHandle<()>>,
}

impl LockFile {
    /// Creates the lock file, unless another process that may be alive holds it.
    ///
    /// # Errors
    /// [`LockError::Busy`]; errors of the file system.
    pub(super) fn take(path: &Path) -> Result<Self, LockError> {
        // Candidate files of processes that were killed at this point.
        remove_stale(folder_of(path));
        let text = Holder::own_text();
        let mut last = None;
        for _ in 0..TRIES {
            let candidate = candidate(path, &text)?;
            if link(&candidate, path)? {
                return Ok(Self::beating(path.to_owned(), text)?);
            }
            let now = fs::metadata(&candidate)?.modified()?;
            if let Some(found) = Found::read(path)? {
                last = found.holder();
                if found.may_be_held(now) {
                    break;
                }
                remove_broken(path, &candidate, now)?;
            }
        }
        Err(LockError::Busy { holder: last })
    }

    /// Starts the heartbeat of a lock file that has just been created.
    fn beating(path: PathBuf, text: String) -> io::Result<Self> {
        let (stop, stopped) = channel::<()>();
        let mut lock = Self { path, text, stop: Some(stop), beats: None };
        let (path, text) = (lock.path.clone(), lock.text.clone());
        let beats = Builder::new().name("lock".into()).spawn(move || {
            while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                // The next heartbeat makes up for one that fails.
                let _ = beat(&path, &text);
            }
        });
        lock.beats = Some(beats?);
        Ok(lock)
    }

    /// Checks that this process still holds the lock file, and renews its heartbeat.
    ///
    /// # Errors
    /// [`LockError::Lost`]; errors of the file system.
    pub(super) fn check(&self) -> Result<(), LockError> {
        beat(&self.path, &self.text)
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        self.stop = None;
        // The thread cannot panic.
        let _ = self.beats.take().map(JoinHandle::join);
        if Found::read(&self.path).is_ok_and(|found| found.is_some_and(|found| found.text == self.text)) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Creates a file with this text beside a lock file. Its modification time is the file system's current time.
fn candidate(path: &Path, text: &str) -> io::Result<TempPath> {
    let mut prefix = path.file_name().ok_or(ErrorKind::InvalidFilename)?.to_owned();
    prefix.push(format!(".{}.", process_tag()));
    let mut file = tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(".part")
        // Other users may read the name of the lock's holder.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder_of(path))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file.into_temp_path())
}

/// Gives a file a second name. Returns false if another file has that name.
fn link(file: &Path, name: &Path) -> io::Result<bool> {
    match fs::hard_link(file, name) {
        // Over NFS, the link may have been made although its answer was lost.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(fs::metadata(file)?.nlink() == 2),
        linked => linked.map(|()| true),
    }
}

/// Removes a lock file that is stale at `now`, unless another process does so.
fn remove_broken(path: &Path, candidate: &Path, now: SystemTime) -> io::Result<()> {
    let guard = path.with_added_extension("guard");
    if !link(candidate, &guard)? {
        thread::sleep(PAUSE);
        // A guard exists only briefly. A stale one was left by a process that was killed at this point.
        return remove_if_broken(&guard, now);
    }
    // Another process may have removed the file and taken the lock before this one had the guard.
    let removed = remove_if_broken(path, now);
    fs::remove_file(&guard)?;
    removed
}

fn remove_if_broken(path: &Path, now: SystemTime) -> io::Result<()> {
    match Found::read(path)? {
        Some(found) if !found.may_be_held(now) => fs::remove_file(path),
        _ => Ok(()),
    }
}

/// Sets the modification time of a lock file to the file system's current time.
///
/// # Errors
/// [`LockError::Lost`] if its content is not `text`; errors of the file system.
fn beat(path: &Path, text: &str) -> Result<(), LockError> {
    let found = Found::read(path)?.ok_or(LockError::Lost { holder: None })?;
    if found.text != text {
        return Err(LockError::Lost { holder: found.holder() });
    }
    let to = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    let times = Timestamps { last_access: to(UTIME_OMIT), last_modification: to(UTIME_NOW) };
    futimens(&found.file, &times).map_err(io::Error::from)?;
    Ok(())
}

/// A lock file that exists.
struct Found {
    file: File,
    text: String,
}

impl Found {
    /// Reads a lock file; `None` if there is none.
    fn read(path: &Path) -> io::Result<Option<Self>> {
        let file = match open_regular(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        (&file).take(LONGEST).read_to_end(&mut bytes)?;
        Ok(Some(Self { file, text: String::from_utf8_lossy(&bytes).into_owned() }))
    }

    fn holder(&self) -> Option<Holder> {
        Holder::parse(&self.text)
    }

    /// Whether its process may be alive at `now`.
    fn may_be_held(&self, now: SystemTime) -> bool {
        let lives = self.holder().and_then(|holder| holder.lives());
        lives.unwrap_or_else(|| {
            let beat = self.file.metadata().and_then(|metadata| metadata.modified());
            !beat.is_ok_and(|beat| now.duration_since(beat).is_ok_and(|age| age > BROKEN_AFTER))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const OTHER: &str = "h0123456789ab-17 5 node7\n";

    /// Writes a lock file of another process whose last heartbeat has this age.
    fn leave(path: &Path, text: &str, age: Duration) {
        fs::write(path, text).unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_lock_of_another_host_is_broken_when_it_beats_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        for text in [OTHER, "", "garbage"] {
            leave(&path, text, BROKEN_AFTER / 2);
            let Err(LockError::Busy { holder }) = LockFile::take(&path) else { panic!("it is held") };
            assert_eq!(holder, Holder::parse(text));
            leave(&path, text, BROKEN_AFTER * 2);
            let lock = LockFile::take(&path).unwrap();
            lock.check().unwrap();
            assert_eq!(names(folder.path()), ["a.lock"]);
        }
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn a_lock_of_this_host_counts_while_its_process_lives() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let own = Holder::own_text();
        leave(&path, &own, BROKEN_AFTER * 2);
        assert!(matches!(LockFile::take(&path), Err(LockError::Busy { holder: Some(_) })));
        let (host, _) = own.split_once('-').unwrap();
        leave(&path, &format!("{host}-4294967295 5 node\n"), Duration::ZERO);
        LockFile::take(&path).unwrap();
    }

    #[test]
    fn a_lost_lock_is_noticed_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let lock = LockFile::take(&path).unwrap();
        fs::write(&path, OTHER).unwrap();
        let error = lock.check().unwrap_err();
        assert_eq!(error.to_string(), "its lock was lost to process 17 on node7");
        fs::remove_file(&path).unwrap();
        assert!(matches!(lock.check(), Err(LockError::Lost { holder: None })));
        fs::write(&path, OTHER).unwrap();
        drop(lock);
        assert_eq!(fs::read_to_string(&path).unwrap(), OTHER);
    }

    #[test]
    fn a_check_beats() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let lock = LockFile::take(&path).unwrap();
        let before = SystemTime::now() - BROKEN_AFTER;
        File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
        lock.check().unwrap();
        assert!(fs::metadata(&path).unwrap().modified().unwrap() > before + BROKEN_AFTER / 2);
    }

    #[test]
    fn a_guard_that_was_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, guard) = (folder.path().join("a.lock"), folder.path().join("a.lock.guard"));
        leave(&path, OTHER, BROKEN_AFTER * 2);
        leave(&guard, OTHER, BROKEN_AFTER / 2);
        assert!(matches!(LockFile::take(&path), Err(LockError::Busy { .. })));
        leave(&guard, OTHER, BROKEN_AFTER * 2);
        drop(LockFile::take(&path).unwrap());
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn one_of_many_holds_a_lock_that_is_broken_again_and_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let broken = format!("{}-4294967295 5 node\n", process_tag().split_once('-').unwrap().0);
        let inside = AtomicUsize::new(0);
        let work = || {
            let mut done = 0;
            while done < 20 {
                let Ok(lock) = LockFile::take(&path) else { continue };
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                lock.check().unwrap();
                inside.fetch_sub(1, Ordering::SeqCst);
                done += 1;
                if done % 2 == 0 {
                    // As after a kill.
                    fs::write(&path, &broken).unwrap();
                }
            }
        };
        thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
        drop(LockFile::take(&path).unwrap());
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
