//! The ledger: what the front has sent, and how it ended. A front that is started again continues from here.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use gpbench_files::checksum::LineChecker;
use gpbench_files::{append_own, open_regular, sync_folder};
use gpbench_record::Attempt;
use serde::{Deserialize, Serialize};

use crate::ClusterError;
use crate::error::Context as _;
use crate::limits::ResourceRequest;
use crate::line;

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LedgerLine {
    /// A front began that gives every task all of its retries again, and permits every node again.
    Resumed,
    /// An array is about to be sent.
    Intent {
        /// Its number.
        submission: u32,
        /// The attempts, in the order of the array's indices.
        attempts: Vec<Attempt>,
        /// What each of them requests; absent in ledgers of earlier versions.
        #[serde(rename = "ask", default, skip_serializing_if = "Option::is_none")]
        request: Option<ResourceRequest>,
    },
    /// An array was accepted.
    Submitted {
        /// Its number.
        submission: u32,
        /// The array's job id.
        job: u64,
    },
    /// The scheduler has lost an array, or has never had it, by its own report.
    Missing {
        /// Its number.
        submission: u32,
    },
    /// An array was not accepted.
    Refused {
        /// Its number.
        submission: u32,
        /// Why.
        reason: String,
    },
    /// An attempt is to be cancelled.
    Cancelled {
        /// The attempt.
        attempt: Attempt,
        /// Why.
        why: Withdrawal,
    },
    /// An attempt is over, and cases of it have no row.
    Lost(Loss),
    /// Cases that have rows run again.
    Again {
        /// Their ids, each with the number of the last attempt whose row of it does not count.
        cases: BTreeMap<String, u32>,
    },
    /// A case that runs again has its new row.
    Renewed {
        /// Its id.
        case: String,
    },
    /// An event of a later version.
    #[serde(other)]
    Unknown,
}

/// Why the front cancels an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawal {
    /// The user ends the run.
    User,
    /// All of its cases have rows.
    Unneeded,
    /// It runs without a heartbeat.
    Silent,
    /// The scheduler could not start it, and holds it.
    Held,
    /// The scheduler is about to run it once more, while the first copy may still run.
    Requeued,
}

/// The end of an attempt that left cases without rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// The attempt.
    pub attempt: Attempt,
    /// The consequence.
    pub cause: Cause,
    /// The reports of the scheduler and of the runner.
    pub reason: String,
    /// The node, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The case that was running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// Whether it counts as a retry.
    pub counts: bool,
    /// Whether it failed soon after it began, which counts against the node.
    #[serde(default)]
    pub quick: bool,
}

/// Why an attempt left cases without rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It was interrupted, or its time was over.
    Interrupted,
    /// It was preempted. Such attempts never count.
    Preempted,
    /// A machine failed.
    Machine,
    /// The system killed it during a case.
    Killed,
    /// The case itself caused it, and has a row.
    Case,
    /// Somebody else cancelled it.
    Withdrawn,
    /// The front cancelled it for its user.
    Ours,
}

/// The ledger of a run, open for appending. The run's journal must be open, which locks both.
#[derive(Debug)]
pub struct Ledger {
    file: File,
    path: PathBuf,
    length: u64,
}

impl Ledger {
    /// Opens or creates a ledger. Gives its lines; one that is damaged is left out, and a last one that is cut short is
    /// removed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(path: &Path) -> Result<(Self, Vec<LedgerLine>), ClusterError> {
        let mut file = append_own(path).context("open", path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).context("read", path)?;
        let length = line::complete(&bytes);
        if length < bytes.len() {
            file.set_len(length as u64).context("repair", path)?;
        }
        let lines = lines(&bytes[..length]);
        if let Some(folder) = path.parent() {
            sync_folder(folder).context("write", folder)?;
        }
        Ok((Self { file, path: path.to_owned(), length: length as u64 }, lines))
    }

    /// Reads a ledger that another process may be writing.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn read(path: &Path) -> Result<Vec<LedgerLine>, ClusterError> {
        let mut bytes = Vec::new();
        open_regular(path).and_then(|mut file| file.read_to_end(&mut bytes)).context("read", path)?;
        Ok(lines(&bytes[..line::complete(&bytes)]))
    }

    /// Appends a line, and waits until it is on the disk.
    ///
    /// # Errors
    /// When the line cannot be written. What was written of it is removed.
    pub fn append(&mut self, line: &LedgerLine) -> Result<(), ClusterError> {
        let text = line::seal(line);
        line::append(&mut self.file, &mut self.length, &text).context("write", &self.path)
    }
}

/// The lines that can be read.
fn lines(bytes: &[u8]) -> Vec<LedgerLine> {
    let mut checker = LineChecker::default();
    line::split(bytes).filter_map(|text| line::parse(&mut checker, text).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn lines_outlive_a_torn_end_and_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.jsonl");
        let (mut ledger, lines) = Ledger::open(&path).unwrap();
        assert_eq!(lines, []);
        let attempt = Attempt { task: 7, attempt: 2 };
        let all = [
            LedgerLine::Resumed,
            LedgerLine::Intent {
                submission: 3,
                attempts: vec![attempt],
                request: Some(ResourceRequest { seconds: 60, memory_bytes: 1 << 30, threads: 2 }),
            },
            LedgerLine::Submitted { submission: 3, job: 12 },
            LedgerLine::Cancelled { attempt, why: Withdrawal::Silent },
            LedgerLine::Lost(Loss {
                attempt,
                cause: Cause::Machine,
                reason: "NODE_FAIL".into(),
                node: Some("n1".into()),
                case: None,
                counts: true,
                quick: false,
            }),
            LedgerLine::Refused { submission: 4, reason: "no such partition".into() },
            LedgerLine::Again { cases: [("a".to_owned(), 2)].into() },
            LedgerLine::Renewed { case: "a".into() },
        ];
        all.iter().for_each(|line| ledger.append(line).unwrap());
        drop(ledger);
        let mut text = fs::read(&path).unwrap();
        text.extend(b"{\"event\":\"intent\",\"submission\":5,\"attempts\":[]}\n{\"check\":\"abc");
        fs::write(&path, &text).unwrap();
        assert_eq!(Ledger::read(&path).unwrap(), all);
        assert_eq!(fs::read(&path).unwrap(), text, "a look changes nothing");
        let (mut ledger, lines) = Ledger::open(&path).unwrap();
        assert_eq!(lines, all);
        ledger.append(&LedgerLine::Resumed).unwrap();
        assert_eq!(Ledger::open(&path).unwrap().1.len(), all.len() + 1);
    }
}
