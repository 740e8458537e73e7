//! The journal, as all readers read it.

use std::collections::HashMap;
use std::fmt;
use std::io::Read as _;
use std::path::Path;

use gpbench_files::checksum::LineChecker;
use gpbench_files::open_regular;
use gpbench_record::{JournalEntry, Row};

use crate::RunError;
use crate::error::Context as _;
use crate::layout::JOURNAL;
use crate::upgrade;

/// Contents of a journal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JournalContents {
    /// The newest row of each case, in the order in which cases first ended.
    pub rows: Vec<Row>,
    /// Complete lines that cannot be read, or have changed since they were written.
    pub damaged: Vec<DamagedRow>,
    /// Whether the last line is cut short, as by a process killed while writing.
    pub truncated: bool,
    /// Bytes of complete lines.
    pub(crate) complete: usize,
}

/// A complete line of a journal that cannot be read. Its case counts as not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRow {
    /// Its number, counted from 1.
    pub line: usize,
    /// Why it cannot be read.
    pub reason: String,
}

impl fmt::Display for DamagedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{JOURNAL} line {} cannot be read ({})", self.line, self.reason)
    }
}

impl DamagedRow {
    /// The warning that names this line. `complete`: every planned case has a row nevertheless.
    pub fn warning(&self, complete: bool) -> String {
        let consequence = if complete { "every case has another row" } else { "its case runs again" };
        format!("{self}; {consequence}")
    }
}

/// Reads the journal of a run folder. Takes no lock, so that a run can be read while it is in progress.
///
/// # Errors
/// When the file cannot be read, or is no regular file.
pub fn read_journal(folder: &Path) -> Result<JournalContents, RunError> {
    let path = folder.join(JOURNAL);
    let mut bytes = Vec::new();
    open_regular(&path).and_then(|mut file| file.read_to_end(&mut bytes)).context("read", &path)?;
    Ok(JournalContents::parse(&bytes))
}

impl JournalContents {
    /// Parses the bytes of a journal.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let complete = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let mut contents =
            JournalContents { complete, truncated: complete < bytes.len(), ..JournalContents::default() };
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut checker = LineChecker::default();
        let lines = bytes[..complete].split(|&byte| byte == b'\n');
        for (line, text) in (1..).zip(lines).filter(|(_, text)| !text.is_empty()) {
            let checked = checker.check(text).map_err(|damage| damage.to_string());
            match checked.and_then(|()| entry(text)) {
                Ok(JournalEntry::Case(row)) => match places.get(&row.id) {
                    Some(&place) => contents.rows[place] = *row,
                    None => {
                        places.insert(row.id.clone(), contents.rows.len());
                        contents.rows.push(*row);
                    }
                },
                Ok(JournalEntry::Unknown) => {}
                Err(reason) => contents.damaged.push(DamagedRow { line, reason }),
            }
        }
        contents
    }
}

/// Parses a line, of the current schema or of an earlier one.
fn entry(line: &[u8]) -> Result<JournalEntry, String> {
    serde_json::from_slice(line).or_else(|error| {
        let upgraded = serde_json::from_slice(line).ok().and_then(upgrade::entry);
        upgraded.map_or(Err(error), serde_json::from_value).map_err(|error| reason(&error))
    })
}

/// Why a line cannot be parsed, without the parser's own line number: it is given one line.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.split_once(" at line ") {
        Some((what, _)) => format!("{what} at column {}", error.column()),
        None => text,
    }
}
