//! `attempts.jsonl`: which cases were started, so that a case that ends gpbench or the machine is known.
//!
//! A case is started on the disk before code of its plugin runs. It ends with its row, or is released where it was
//! given up without blame. A start that neither followed is one that the case did not survive.
//!
//! Lines that cannot be read are ignored: a case then counts as started less often than it was.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use gpbench_files::append_own;
use gpbench_files::checksum::{self, LineChecker};
use serde::{Deserialize, Serialize};

use crate::RunError;
use crate::error::Context as _;
use crate::layout::ATTEMPTS;

/// The attempts at the cases of a run, open for writing. The folder's journal must be open, which locks both.
#[derive(Debug)]
pub struct Attempts {
    file: File,
    path: PathBuf,
    open: HashMap<String, Starts>,
}

/// Starts of a case that have not ended.
#[derive(Debug, Clone, Default)]
struct Starts {
    count: usize,
    /// The checkpoint that the last of them began with.
    checkpoint: Option<String>,
}

/// A line of the file. Readers skip events that they do not know.
#[derive(Debug, Serialize, Deserialize)]
struct Line<'a> {
    id: &'a str,
    event: Event,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Event {
    Started,
    Released,
    Ended,
    #[serde(other)]
    Unknown,
}

impl Attempts {
    /// Opens or creates the file of a run folder. A last line that is cut short is removed.
    ///
    /// # Errors
    /// Those of the file system; if a link or something other than a regular file has its name.
    pub fn open(folder: &Path) -> Result<Self, RunError> {
        let path = folder.join(ATTEMPTS);
        let mut file = append_own(&path).context("open", &path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).context("read", &path)?;
        let length = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        if length < bytes.len() {
            file.set_len(length as u64).context("repair", &path)?;
        }
        let mut attempts = Self { file, path, open: HashMap::new() };
        let mut checker = LineChecker::default();
        for line in bytes[..length].split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            if checker.check(line).is_ok()
                && let Ok(line) = serde_json::from_slice(line)
            {
                attempts.apply(line);
            }
        }
        Ok(attempts)
    }

    /// Starts of a case that it did not survive. Where it writes checkpoints, a new one since the last start shows
    /// that it came further: those starts do not count.
    pub fn starts(&self, id: &str, checkpoint: Option<&Path>) -> usize {
        let Some(starts) = self.open.get(id) else { return 0 };
        match checkpoint.and_then(mark) {
            Some(now) if starts.checkpoint.as_ref() != Some(&now) => 0,
            _ => starts.count,
        }
    }

    /// Stores that a case is started. When the call returns, the line is on the disk.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn start(&mut self, id: &str, checkpoint: Option<&Path>) -> Result<(), RunError> {
        self.append(Line { id, event: Event::Started, checkpoint: checkpoint.and_then(mark) })?;
        self.file.sync_data().context("write", &self.path)
    }

    /// Stores that the last start of a case was given up without blame.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn release(&mut self, id: &str) -> Result<(), RunError> {
        self.append(Line { id, event: Event::Released, checkpoint: None })
    }

    /// Stores that a case has its row, which is on the disk.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn end(&mut self, id: &str) -> Result<(), RunError> {
        if !self.open.contains_key(id) {
            return Ok(());
        }
        self.append(Line { id, event: Event::Ended, checkpoint: None })
    }

    fn append(&mut self, line: Line<'_>) -> Result<(), RunError> {
        let text = serde_json::to_vec(&line).expect("plain data with text keys always serialises");
        let mut text = checksum::seal(&text);
        text.push(b'\n');
        // Another program may have changed the file since the last line.
        let length = self.file.metadata().context("read", &self.path)?.len();
        if let Err(error) = self.file.write_all(&text) {
            // If this fails too, the part is removed when the file is next opened.
            let _ = self.file.set_len(length);
            return Err(error).context("write", &self.path);
        }
        self.apply(line);
        Ok(())
    }

    fn apply(&mut self, line: Line<'_>) {
        let Line { id, event, checkpoint } = line;
        match event {
            Event::Started => {
                let starts = self.open.entry(id.to_owned()).or_default();
                let came_further = checkpoint.is_some() && checkpoint != starts.checkpoint;
                starts.count = if came_further { 1 } else { starts.count + 1 };
                starts.checkpoint = checkpoint;
            }
            Event::Released => {
                if let Some(starts) = self.open.get_mut(id) {
                    starts.count = starts.count.saturating_sub(1);
                }
            }
            Event::Ended => {
                self.open.remove(id);
            }
            Event::Unknown => {}
        }
    }
}

/// The identity of a checkpoint's file: each checkpoint is a new file, written as a whole.
fn mark(checkpoint: &Path) -> Option<String> {
    let metadata = fs::metadata(checkpoint).ok()?;
    let written = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} bytes of {} ns", metadata.len(), written.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_without_an_end_are_counted_over_processes() {
        let folder = tempfile::tempdir().unwrap();
        let mut attempts = Attempts::open(folder.path()).unwrap();
        for id in ["dies", "ends", "dies", "given-up"] {
            attempts.start(id, None).unwrap();
        }
        attempts.end("ends").unwrap();
        attempts.release("given-up").unwrap();
        drop(attempts);
        // As after a power cut, and as written by a later version.
        let path = folder.path().join(ATTEMPTS);
        let mut text = fs::read_to_string(&path).unwrap();
        let later = checksum::seal(b"{\"id\":\"dies\",\"event\":\"slept\"}");
        text += std::str::from_utf8(&later).unwrap();
        text += "\n{\"id\":\"dies\",\"event\":\"started\"}\nnonsense\n{\"id\":\"di";
        fs::write(&path, text).unwrap();
        let mut attempts = Attempts::open(folder.path()).unwrap();
        assert_eq!(["dies", "ends", "given-up", "new"].map(|id| attempts.starts(id, None)), [2, 0, 0, 0]);
        attempts.start("dies", None).unwrap();
        assert_eq!(Attempts::open(folder.path()).unwrap().starts("dies", None), 3);
    }

    #[test]
    fn a_case_that_came_further_has_survived() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = folder.path().join("checkpoint");
        let mut attempts = Attempts::open(folder.path()).unwrap();
        let file = Some(checkpoint.as_path());
        attempts.start("a", file).unwrap();
        assert_eq!(attempts.starts("a", file), 1);
        fs::write(&checkpoint, "one step").unwrap();
        assert_eq!(attempts.starts("a", file), 0);
        attempts.start("a", file).unwrap();
        attempts.start("a", file).unwrap();
        assert_eq!(Attempts::open(folder.path()).unwrap().starts("a", file), 2);
    }
}
