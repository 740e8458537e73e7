//! Files by which the front of a cluster run and the runners on its nodes communicate.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{ComposedLibrary, Environment, NodePlace, Row, Site};

/// Exit status of a runner that a signal ended: its task can continue on another node.
pub const STATUS_INTERRUPTED: i32 = 75;
/// Exit status of a runner on a node that cannot run its task.
pub const STATUS_UNFIT: i32 = 76;

/// One attempt at one task. `Display` writes it as in file names: `0007.01`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Attempt {
    /// The task's index in the manifest.
    pub task: u32,
    /// Number of the attempt, counted from 1.
    pub attempt: u32,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}.{:02}", self.task, self.attempt)
    }
}

/// A text that names no attempt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an attempt at a task, such as `0007.01`")]
pub struct NoAttempt(String);

impl FromStr for Attempt {
    type Err = NoAttempt;

    fn from_str(text: &str) -> Result<Self, NoAttempt> {
        let parsed = text.split_once('.').and_then(|(task, attempt)| {
            Some(Attempt { task: task.parse().ok()?, attempt: attempt.parse().ok()? })
        });
        parsed.ok_or_else(|| NoAttempt(text.to_owned()))
    }
}

/// Why a runner ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Ending {
    /// All cases were run. A case without a row met a fault of the machine.
    Done,
    /// The remaining time of the job is too short for the next case.
    TimeOver,
    /// The runner was asked by a signal to end.
    Signal {
        /// Its number.
        signal: i32,
    },
    /// The node cannot run the task.
    Unfit {
        /// The reason.
        reason: String,
    },
    /// The runner cannot continue, for instance because the disk is full.
    Failed {
        /// The error.
        reason: String,
    },
}

/// One line of a part file. The front writes the first line, and the attempt's runner writes all others. Times are
/// UTC by the clock of the node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PartLine {
    /// The cases that the attempt is to run.
    Assigned {
        /// The attempt.
        attempt: Attempt,
        /// Ids of its cases, in the order in which they are to run.
        cases: Vec<String>,
        /// Wall-clock seconds that it requests, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<u64>,
    },
    /// The runner began.
    Begun {
        /// Time of the event.
        time: String,
        /// Node of the runner.
        place: NodePlace,
    },
    /// The runner is alive.
    Beat {
        /// Time of the event.
        time: String,
        /// Whether the running case has written a checkpoint in this attempt.
        #[serde(default)]
        advanced: bool,
    },
    /// A case started.
    Started {
        /// Time of the event.
        time: String,
        /// The case's id.
        id: String,
    },
    /// A case ended. The line is also a line of the journal.
    Case(Box<Row>),
    /// The runner ended.
    Ended {
        /// Time of the event.
        time: String,
        /// Reason of the end.
        #[serde(flatten)]
        ending: Ending,
        /// Whether a case without a row has written a checkpoint in this attempt.
        #[serde(default)]
        advanced: bool,
    },
    /// A kind of a later version.
    #[serde(other)]
    Unknown,
}

/// The manifest of a cluster run: what its runners need beside the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`crate::SCHEMA`].
    pub schema: u32,
    /// The name of the run's folder, which names its jobs.
    pub run: String,
    /// The runner, on the shared file system.
    #[serde(with = "crate::path")]
    pub runner: PathBuf,
    /// The worker, on the shared file system.
    #[serde(with = "crate::path")]
    pub worker: PathBuf,
    /// Environment in which the run was started last: its programs, the planned numerics of the worker, and its
    /// inputs.
    pub started_in: Environment,
    /// Files of each case, by its id.
    pub cases: BTreeMap<String, CaseFiles>,
    /// The libraries that consist of more than their file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<ComposedLibrary>,
    /// Options of the run.
    pub options: NodeOptions,
    /// The tasks. One task runs on one node.
    pub tasks: Vec<ClusterTask>,
    /// Settings of the site.
    pub site: Site,
}

/// Files and estimates of a case, which the plan does not contain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseFiles {
    /// The solver's library, on the shared file system.
    #[serde(with = "crate::path")]
    pub plugin_file: PathBuf,
    /// The data set's binary copy, on the shared file system; absent for generated sets.
    #[serde(default, with = "crate::path::optional", skip_serializing_if = "Option::is_none")]
    pub dataset_file: Option<PathBuf>,
    /// Estimated bytes of memory of the case, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_estimate: Option<u64>,
    /// Estimated wall-clock seconds of the solver, and of the search for the optimum that the case is compared with, where
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_estimate: Option<f64>,
}

/// Options of a run that its runners need.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeOptions {
    /// Folder of exact references, on the shared file system.
    #[serde(with = "crate::path")]
    pub cache_dir: PathBuf,
    /// Wall-clock seconds after which a case without a time budget is killed.
    pub kill_after_seconds: Option<f64>,
    /// Processor seconds, of all its threads and children, after which a case is killed.
    pub cpu_seconds: Option<f64>,
    /// Bytes of memory at which a case without a memory budget is killed.
    pub memory_bytes: Option<u64>,
    /// Cases of the whole plan, chosen by their ids, whose solutions the run folder keeps.
    pub keep_solutions: usize,
}

/// Cases that run one after another on one node, and the resources that they request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterTask {
    /// Ids of the cases, in the order of the plan.
    pub cases: Vec<String>,
    /// Wall-clock seconds.
    pub seconds: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Threads.
    pub threads: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_has_the_name_of_its_file() {
        let attempt = Attempt { task: 7, attempt: 1 };
        assert_eq!(attempt.to_string(), "0007.01");
        assert_eq!("0007.01".parse(), Ok(attempt));
        assert_eq!("12345.100".parse(), Ok(Attempt { task: 12345, attempt: 100 }));
        for text in ["", "7", "7.", "a.1", "7.1.1", "-1.1"] {
            assert!(text.parse::<Attempt>().is_err(), "{text}");
        }
    }

    #[test]
    fn lines_are_read_as_they_were_written() {
        let time = || "2026-01-01T00:00:00Z".to_owned();
        let lines = [
            PartLine::Assigned {
                attempt: Attempt { task: 0, attempt: 1 },
                cases: vec!["a".into()],
                seconds: Some(60),
            },
            PartLine::Beat { time: time(), advanced: true },
            PartLine::Ended { time: time(), ending: Ending::Signal { signal: 15 }, advanced: false },
            PartLine::Ended {
                time: time(),
                ending: Ending::Unfit { reason: "no folder".into() },
                advanced: false,
            },
        ];
        for line in lines {
            let text = serde_json::to_string(&line).unwrap();
            assert_eq!(serde_json::from_str::<PartLine>(&text).unwrap(), line, "{text}");
        }
        assert_eq!(serde_json::from_str::<PartLine>("{\"kind\":\"dreamt\"}").unwrap(), PartLine::Unknown);
    }
}
