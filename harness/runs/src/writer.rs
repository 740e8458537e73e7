//! The journal, open for writing: one JSON line a row, on the disk before its case is announced.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use gpbench_files::{FileLock, LockError, Locking, checksum, sync_folder};
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
    /// Bytes of complete lines.
    length: u64,
    /// The status of each case's newest row.
    statuses: HashMap<String, CaseStatus>,
}

impl Journal {
    /// Opens or creates the journal of a run folder. A last line that is cut short is removed; complete lines
    /// that cannot be read are returned.
    ///
    /// # Errors
    /// [`RunError::Busy`] when another process has it open; those of the file system.
    pub fn open(folder: &Path) -> Result<(Self, Vec<DamagedRow>), RunError> {
        Self::open_by(folder, Locking::default())
    }

    /// [`Journal::open`], locked in this way.
    fn open_by(folder: &Path, locking: Locking) -> Result<(Self, Vec<DamagedRow>), RunError> {
        let path = folder.join(JOURNAL);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .context("open the journal", &path)?;
        let lock =
            FileLock::try_lock(&file, &path, locking).map_err(|error| lock_error(error, folder, &path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).context("read the journal", &path)?;
        let contents = JournalContents::parse(&bytes);
        let length = contents.complete as u64;
        if contents.truncated {
            file.set_len(length).context("repair the journal", &path)?;
        }
        sync_folder(folder).context("write", folder)?;
        let statuses = contents.rows.into_iter().map(|row| (row.id, row.status)).collect();
        Ok((Self { file, lock, path, length, statuses }, contents.damaged))
    }

    /// Appends a row and waits until it is on the disk.
    ///
    /// # Errors
    /// When the line cannot be written. What was written of it is removed, so that the row of a case that was
    /// running meanwhile can still have a line of its own. [`RunError::LockLost`] when another process has taken over
    /// the run: nothing is written.
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
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // If this fails too, the line is removed when the journal is next opened.
            let _ = self.file.set_len(self.length);
        }
        written.context("write the journal", &self.path)?;
        self.length += line.len() as u64;
        self.statuses.insert(row.id.clone(), row.status);
        Ok(())
    }

    /// The status of a case's newest row, if it has one.
    pub fn status(&self, id: &str) -> Option<CaseStatus> {
        self.statuses.get(id).copied()
    }
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
    use std::fs;

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
    fn nothing_is_written_once_the_lock_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, _) = Journal::open_by(folder.path(), Locking::LockFile).unwrap();
        fs::write(folder.path().join("journal.jsonl.lock"), "h0123456789ab-17 5 node7\n").unwrap();
        let lost = journal.append(&testing::row(testing::case("cg"), &[])).unwrap_err();
        assert!(lost.to_string().contains("by another gpbench (process 17 on node7)"), "{lost}");
        assert_eq!(fs::read(folder.path().join(JOURNAL)).unwrap(), b"");
    }
}
