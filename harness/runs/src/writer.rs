//! The journal, open for writing: one JSON line a row, on the disk before its case is announced.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use gpbench_files::{checksum, sync_folder};
use gpbench_record::{JournalEntry, Row, Status};

use crate::RunError;
use crate::error::Context as _;
use crate::journal::{DamagedLine, JournalContents};
use crate::layout::JOURNAL;

/// A journal open for appending.
///
/// While it is open the file is locked, so that no second process can run in the same folder. The system
/// releases the lock when the process ends, however it ends.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Bytes of complete lines.
    length: u64,
    /// The status of each case's newest row.
    statuses: HashMap<String, Status>,
}

impl Journal {
    /// Opens or creates the journal of a run folder. A last line that is cut short is removed; complete lines
    /// that cannot be read are returned.
    ///
    /// # Errors
    /// [`RunError::Busy`] when another process has it open; those of the file system.
    pub fn open(folder: &Path) -> Result<(Self, Vec<DamagedLine>), RunError> {
        let path = folder.join(JOURNAL);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .context("open the journal", &path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(RunError::Busy { folder: folder.to_owned() }),
            Err(TryLockError::Error(source)) => Err(source).context("lock the journal", &path)?,
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).context("read the journal", &path)?;
        let contents = JournalContents::parse(&bytes);
        let length = contents.complete as u64;
        if contents.truncated {
            file.set_len(length).context("repair the journal", &path)?;
        }
        sync_folder(folder).context("write", folder)?;
        let statuses = contents.rows.into_iter().map(|row| (row.id, row.status)).collect();
        Ok((Self { file, path, length, statuses }, contents.damaged))
    }

    /// Appends a row and waits until it is on the disk.
    ///
    /// # Errors
    /// When the line cannot be written. What was written of it is removed, so that the row of a case that was
    /// running meanwhile can still have a line of its own.
    pub fn append(&mut self, row: &Row) -> Result<(), RunError> {
        let entry = JournalEntry::Case(Box::new(row.clone()));
        let text = serde_json::to_vec(&entry).expect("plain data with text keys always serialises");
        let mut line = checksum::seal(&text);
        line.push(b'\n');
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
    pub fn status(&self, id: &str) -> Option<Status> {
        self.statuses.get(id).copied()
    }

    /// The number of cases among `ids` by status.
    pub fn count<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> BTreeMap<Status, usize> {
        let mut counts = BTreeMap::new();
        for status in ids.into_iter().filter_map(|id| self.status(id)) {
            *counts.entry(status).or_default() += 1;
        }
        counts
    }
}
