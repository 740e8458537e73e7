//! The files of a cluster run, as its front uses them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use gpbench_files::sync_folder;
use gpbench_record::{Attempt, PartLine, Row};

use crate::ClusterError;
use crate::error::Context as _;
use crate::folder::ClusterFolder;
use crate::front::{FrontRow, Submission};
use crate::ledger::{Ledger, LedgerLine};
use crate::manager::Records;
use crate::part::{News, PartReader, PartWriter};

/// The journal of a run, which rows are written to.
pub trait RunJournal {
    /// Appends the line of a row, byte for byte. It is on the disk when this returns.
    ///
    /// # Errors
    /// When it cannot be written.
    fn copy(&mut self, row: &Row, line: &[u8]) -> Result<(), ClusterError>;

    /// Writes a row that no runner could write.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&mut self, row: &FrontRow) -> Result<(), ClusterError>;
}

/// The files of a cluster run. The run's journal must be open, which locks them.
#[derive(Debug)]
pub struct RunFiles<R> {
    folder: ClusterFolder,
    ledger: Ledger,
    readers: HashMap<Attempt, PartReader>,
    /// The journal of the run.
    pub rows: R,
}

/// The stored state of a cluster run, for a new front.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RestoredRun {
    /// The ledger.
    pub ledger: Vec<LedgerLine>,
    /// Attempts that have part files.
    pub parts: Vec<Attempt>,
}

impl<R> RunFiles<R> {
    /// Opens the files of a run, which [`ClusterFolder::create`] has made. `resume` gives every task all of its retries
    /// again.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(folder: ClusterFolder, rows: R, resume: bool) -> Result<(Self, RestoredRun), ClusterError> {
        let (mut ledger, mut lines) = Ledger::open(&folder.ledger())?;
        if resume && !lines.is_empty() {
            ledger.append(&LedgerLine::Resumed)?;
            lines.push(LedgerLine::Resumed);
        }
        let parts = parts(&folder.parts())?;
        Ok((Self { folder, ledger, readers: HashMap::new(), rows }, RestoredRun { ledger: lines, parts }))
    }
}

impl RestoredRun {
    /// Reads the files of a run that another front may have open.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn read(folder: &ClusterFolder) -> Result<Self, ClusterError> {
        Ok(Self { ledger: Ledger::read(&folder.ledger())?, parts: parts(&folder.parts())? })
    }
}

/// The attempts that have part files.
fn parts(folder: &Path) -> Result<Vec<Attempt>, ClusterError> {
    let mut parts = Vec::new();
    for entry in fs::read_dir(folder).context("read", folder)? {
        let name = entry.context("read", folder)?.file_name();
        let attempt = name.to_str().and_then(|name| name.strip_suffix(".jsonl")).map(str::parse::<Attempt>);
        parts.extend(attempt.and_then(Result::ok));
    }
    parts.sort_unstable();
    Ok(parts)
}

impl<R: RunJournal> Records for RunFiles<R> {
    fn record(&mut self, line: &LedgerLine) -> Result<(), ClusterError> {
        self.ledger.append(line)
    }

    fn prepare(&mut self, submission: &Submission) -> Result<(), ClusterError> {
        for (attempt, cases) in &submission.attempts {
            let seconds = Some(submission.array.request.seconds);
            let assigned = PartLine::Assigned { attempt: *attempt, cases: cases.clone(), seconds };
            PartWriter::create(&self.folder.part(*attempt), &assigned)?;
        }
        let parts = self.folder.parts();
        sync_folder(&parts).context("write", &parts)?;
        let attempts: Vec<Attempt> = submission.attempts.iter().map(|(attempt, _)| *attempt).collect();
        self.folder.write_submission(submission.number, &attempts)
    }

    fn news(&mut self, attempt: Attempt) -> Result<News, ClusterError> {
        let path = || self.folder.part(attempt);
        self.readers.entry(attempt).or_insert_with(|| PartReader::new(path())).read()
    }

    fn copy(&mut self, row: &Row, line: &[u8]) -> Result<(), ClusterError> {
        self.rows.copy(row, line)
    }

    fn write(&mut self, row: &FrontRow) -> Result<(), ClusterError> {
        self.rows.write(row)
    }
}
