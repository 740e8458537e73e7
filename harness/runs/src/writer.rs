//! The journal, open for writing: one JSON line a row, on the disk before its case is announced.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use gpbench_files::{FileLock, LockError, Locking, append_own, checksum, sync_folder};
use gpbench_record::{CaseStatus, JournalEntry, Row};

use crate::RunError;
use crate::error::Context as _;
use crate::journal::{DamagedRow, JournalContents};
use crate::layout::JOURNAL;

/// A journal open for appending.
///
/// While it is open the file is locked, so that no second process can run in the same folder, on this host or another.
/// The lock does not outlast the process, however it ends.
#[derive(Debug)]
pub struct Journal {
    file: File,
    lock: FileLock,
    path: PathBuf,
    /// The status of each case's newest row.
    statuses: HashMap<String, CaseStatus>,
}

impl Journal {
    /// Opens or creates the journal of a run folder. A last line that is cut short is removed; complete lines
    /// that cannot be read are returned.
    ///
    /// # Errors
    /// [`RunError::Busy`] when another process has it open; those of the file system; if a link or something other than a
    /// regular file has its name.
    pub fn open(folder: &Path) -> Result<(Self, Vec<DamagedRow>), RunError> {
        Self::open_by(folder, Locking::default())
    }

    /// [`Journal::open`], locked in this way.
    fn open_by(folder: &Path, locking: Locking) -> Result<(Self, Vec<DamagedRow>), RunError> {
        let path = folder.join(JOURNAL);
        let file = append_own(&path).context("open the journal", &path)?;
        let lock =
            FileLock::try_lock(&file, &path, locking).map_err(|error| lock_error(error, folder, &path))?;
        let contents = JournalContents::read(BufReader::new(&file)).context("read the journal", &path)?;
        if contents.truncated {
            file.set_len(contents.complete).context("repair the journal", &path)?;
        }
        sync_folder(folder).context("write", folder)?;
        let statuses = contents.rows.into_iter().map(|row| (row.id, row.status)).collect();
        Ok((Self { file, lock, path, statuses }, contents.damaged))
    }

    /// Appends a row and waits until it is on the disk.
    ///
    /// # Errors
    /// When the line cannot be written. What was written of it is removed, so that the row of a case that was
    /// running meanwhile can still have a line of its own. [`RunError::LockLost`] when another process has taken over
    /// the run: nothing is written. [`RunError::JournalReplaced`] when another program has removed or replaced the file: the
    /// line is in the file that has its name now.
    pub fn append(&mut self, row: &Row) -> Result<(), RunError> {
        let entry = JournalEntry::Case(Box::new(row.clone()));
        let text = serde_json::to_vec(&entry).expect("plain data with text keys always serialises");
        self.copy(row, &checksum::seal(&text))
    }

    /// Appends the line of a row as it stands in another file, and waits until it is on the disk.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn copy(&mut self, row: &Row, line: &[u8]) -> Result<(), RunError> {
        let mut line = line.to_vec();
        line.push(b'\n');
        let folder = self.path.parent().unwrap_or(Path::new("."));
        self.lock.check().map_err(|error| lock_error(error, folder, &self.path))?;
        if !self.has_its_name().context("read the journal", &self.path)? {
            let moved = append_own(&self.path).and_then(|mut file| append_line(&mut file, &line));
            moved.context("write the journal", &self.path)?;
            return Err(RunError::JournalReplaced { path: self.path.clone() });
        }
        append_line(&mut self.file, &line).context("write the journal", &self.path)?;
        self.statuses.insert(row.id.clone(), row.status);
        Ok(())
    }

    /// Whether the open file is still the one with the journal's name.
    fn has_its_name(&self) -> io::Result<bool> {
        let open = self.file.metadata()?;
        match fs::symlink_metadata(&self.path) {
            Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The status of a case's newest row, if it has one.
    pub fn status(&self, id: &str) -> Option<CaseStatus> {
        self.statuses.get(id).copied()
    }
}

/// Appends a line to a file, and waits until it is on the disk. What was written of a line that cannot be written is removed.
/// Another program may have changed the file since the last line: where it has cut a line short, this one begins anew.
fn append_line(file: &mut File, line: &[u8]) -> io::Result<()> {
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    let cut: &[u8] = if last == [b'\n'] { b"" } else { b"\n" };
    let written = file.write_all(&[cut, line].concat()).and_then(|()| file.sync_data());
    if written.is_err() {
        // If this fails too, the line is removed when the journal is next opened.
        let _ = file.set_len(length);
    }
    written
}

/// The error of a run folder whose journal cannot be locked, or is not locked any more.
fn lock_error(error: LockError, folder: &Path, path: &Path) -> RunError {
    let folder = folder.to_owned();
    match error {
        LockError::Busy { holder } => RunError::Busy { folder, holder },
        LockError::Lost { holder } => RunError::LockLost { folder, holder },
        LockError::Io(source) => RunError::Io { action: "lock the journal", path: path.to_owned(), source },
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::testing;

    use super::*;

    #[test]
    fn a_journal_is_locked_where_the_file_system_has_no_locks() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Journal::open_by(folder.path(), Locking::LockFile);
        let (mut journal, _) = open().unwrap();
        journal.append(&testing::row(testing::case("cg"), &[])).unwrap();
        let busy = open().unwrap_err();
        let holder = format!("by another gpbench (process {} on ", std::process::id());
        assert!(busy.to_string().contains(&holder), "{busy}");
        assert!(matches!(Journal::open(folder.path()), Err(RunError::Busy { .. })));
        drop(journal);
        assert_eq!(open().unwrap().0.statuses.len(), 1);
    }

    #[test]
    fn rows_outlive_changes_of_the_file_by_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(JOURNAL);
        let (mut journal, _) = Journal::open(folder.path()).unwrap();
        let row = |id: &str| Row { id: id.into(), ..testing::row(testing::case("cg"), &[]) };
        let rows = || {
            let rows = crate::read_journal(folder.path()).unwrap().rows;
            rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
        };
        journal.append(&row("a")).unwrap();
        fs::write(&path, "").unwrap();
        journal.append(&row("b")).unwrap();
        assert_eq!(rows(), ["b"]);
        let length = fs::metadata(&path).unwrap().len();
        File::options().write(true).open(&path).unwrap().set_len(length - 9).unwrap();
        journal.append(&row("c")).unwrap();
        assert_eq!(rows(), ["c"]);
        // A new file has the name: the open one would be lost.
        fs::copy(&path, folder.path().join("copy")).unwrap();
        fs::rename(folder.path().join("copy"), &path).unwrap();
        let replaced = journal.append(&row("d")).unwrap_err();
        assert!(matches!(replaced, RunError::JournalReplaced { .. }), "{replaced}");
        assert_eq!(rows(), ["c", "d"]);
        fs::remove_file(&path).unwrap();
        assert!(matches!(journal.append(&row("e")), Err(RunError::JournalReplaced { .. })));
        assert_eq!(rows(), ["e"]);
    }

    #[test]
    fn a_linked_journal_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::NamedTempFile::new().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join(JOURNAL)).unwrap();
        let refused = Journal::open(folder.path()).unwrap_err();
        assert!(refused.to_string().contains("it is a link") && refused.is_users(), "{refused}");
        fs::remove_file(folder.path().join(JOURNAL)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(JOURNAL)).unwrap();
        assert!(Journal::open(folder.path()).is_err());
        assert!(crate::read_journal(folder.path()).unwrap_err().is_users());
    }

    #[test]
    fn nothing_is_written_once_the_lock_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, _) = Journal::open_by(folder.path(), Locking::LockFile).unwrap();
        fs::write(folder.path().join("journal.jsonl.lock"), "h0123456789ab-17 5 node7\n").unwrap();
        let lost = journal.append(&testing::row(testing::case("cg"), &[])).unwrap_err();
        assert!(lost.to_string().contains("by another gpbench (process 17 on node7)"), "{lost}");
        assert_eq!(fs::read(folder.path().join(JOURNAL)).unwrap(), b"");
    }
}
