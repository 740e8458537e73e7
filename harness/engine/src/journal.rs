//! The journal: one JSON line a row, on the disk before anybody hears of it.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use gpbench_record::{JournalEntry, Row, Status};

use crate::EngineError;
use crate::error::Context as _;
use crate::folder::sync_folder;

/// File name of a run's journal.
pub(crate) const JOURNAL: &str = "journal.jsonl";

/// A journal open for appending.
///
/// While it is open the file is locked, so that no second process can run in the
/// same folder; the system lifts the lock when the process ends, however it ends.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Bytes of whole lines.
    length: u64,
    statuses: HashMap<String, Status>,
}

impl Journal {
    /// Opens or creates the journal of a run folder and reads what it holds.
    ///
    /// A last line without its end, left by a process killed while writing, is
    /// cut off. Complete lines that cannot be read are passed over; their number
    /// is returned, and their cases will be run again.
    ///
    /// # Errors
    /// [`EngineError::Busy`] when another process has it open.
    pub fn open(folder: &Path) -> Result<(Self, usize), EngineError> {
        let path = folder.join(JOURNAL);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .context("open the journal", &path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(EngineError::Busy { folder: folder.to_owned() }),
            Err(TryLockError::Error(source)) => Err(source).context("lock the journal", &path)?,
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).context("read the journal", &path)?;
        let complete = complete_length(&bytes);
        if complete < bytes.len() {
            file.set_len(complete as u64).context("repair the journal", &path)?;
        }
        sync_folder(folder).context("write", folder)?;
        let (rows, unreadable) = parse(&bytes[..complete]);
        let statuses = rows.into_iter().map(|row| (row.id, row.status)).collect();
        Ok((Self { file, path, length: complete as u64, statuses }, unreadable))
    }

    /// Appends a terminal row and waits until it is on the disk.
    ///
    /// # Errors
    /// When the line cannot be written. What was written of it is taken back, so that a row that
    /// still comes, of a case that was running meanwhile, has a line of its own.
    pub fn append(&mut self, row: &Row) -> Result<(), EngineError> {
        let entry = JournalEntry::Case(Box::new(row.clone()));
        let mut line = serde_json::to_vec(&entry).expect("plain data with text keys always serialises");
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // What cannot be taken back now is cut off when the journal is next opened.
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

    /// How many of `ids` ended with which status.
    pub(crate) fn count(&self, ids: &[String]) -> BTreeMap<Status, usize> {
        let mut counts = BTreeMap::new();
        for status in ids.iter().filter_map(|id| self.status(id)) {
            *counts.entry(status).or_default() += 1;
        }
        counts
    }
}

/// The terminal rows of a run folder, one a case: where a case was run again, the newer row.
/// Rows stand in the order in which their cases first ended.
///
/// Takes no lock, so that a run can be looked at while it goes on.
///
/// # Errors
/// When the journal cannot be read.
pub fn read_rows(folder: &Path) -> Result<Vec<Row>, EngineError> {
    let path = folder.join(JOURNAL);
    let bytes = std::fs::read(&path).context("read", &path)?;
    let (rows, _) = parse(&bytes[..complete_length(&bytes)]);
    let mut newest: Vec<Row> = Vec::with_capacity(rows.len());
    let mut place: HashMap<String, usize> = HashMap::new();
    for row in rows {
        match place.get(&row.id) {
            Some(&index) => newest[index] = row,
            None => {
                place.insert(row.id.clone(), newest.len());
                newest.push(row);
            }
        }
    }
    Ok(newest)
}

/// Length of the part that ends in a complete line.
fn complete_length(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1)
}

/// All rows of complete lines, and the number of lines that are none.
fn parse(bytes: &[u8]) -> (Vec<Row>, usize) {
    let mut rows = Vec::new();
    let mut unreadable = 0;
    for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice(line) {
            Ok(JournalEntry::Case(row)) => rows.push(*row),
            Ok(JournalEntry::Unknown) => {}
            Err(_) => unreadable += 1,
        }
    }
    (rows, unreadable)
}
