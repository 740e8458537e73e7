//! The part file of the attempt, as the runner writes it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use gpbench_cluster::{ClusterError, PartWriter};
use gpbench_engine::RowSink;
use gpbench_record::{CaseStatus, Ending, Environment, NodePlace, PartLine, Row};
use gpbench_runs::RunError;
use jiff::Timestamp;

use crate::checkpoints::Checkpoints;
use crate::report;
use crate::task::Task;
use crate::time::JobTime;

/// A heartbeat that is late by more than this number of seconds shows that the runner was suspended.
const LATE: f64 = 5.0;

/// The part file of the attempt.
pub(crate) struct Part {
    path: PathBuf,
    writer: Mutex<PartWriter>,
    place: OnceLock<NodePlace>,
    checkpoints: OnceLock<Checkpoints>,
    suspended_seconds: Mutex<f64>,
}

impl Part {
    /// Opens the file, which the front has made.
    pub(crate) fn open(task: &Task) -> Result<Self, ClusterError> {
        let path = task.folder.part(task.attempt);
        Ok(Self {
            writer: Mutex::new(PartWriter::open(&path)?),
            path,
            place: OnceLock::new(),
            checkpoints: OnceLock::new(),
            suspended_seconds: Mutex::default(),
        })
    }

    /// Writes that the runner has begun, and where. The environment is stored for the front.
    pub(crate) fn begin(
        &self,
        task: &Task,
        place: NodePlace,
        environment: &Environment,
    ) -> Result<(), ClusterError> {
        task.folder.write_environment(environment)?;
        let place = self.place.get_or_init(|| place).clone();
        self.append(&PartLine::Begun { time: now(), place })
    }

    /// Sets the checkpoints that show the progress of cases.
    pub(crate) fn watch(&self, checkpoints: Checkpoints) {
        let _ = self.checkpoints.set(checkpoints);
    }

    /// Removes checkpoints of earlier attempts of a case that has its row.
    fn end_case(&self, id: &str) {
        self.checkpoints.get().into_iter().for_each(|checkpoints| checkpoints.end(id));
    }

    /// Writes why the runner ends.
    pub(crate) fn end(&self, ending: &Ending) -> Result<(), ClusterError> {
        self.append(&PartLine::Ended { time: now(), ending: ending.clone(), advanced: self.advanced() })
    }

    /// Writes heartbeats at an interval, until the other end of `over` is dropped.
    pub(crate) fn beat_until(&self, over: &Receiver<()>, interval: Duration) {
        let mut last = Timestamp::now();
        while over.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            let time = Timestamp::now();
            let gap = time.duration_since(last).as_secs_f64() - interval.as_secs_f64();
            if gap > LATE {
                *lock(&self.suspended_seconds) += gap;
            }
            last = time;
            self.checkpoints.get().into_iter().for_each(Checkpoints::remove_outdated);
            // A heartbeat that cannot be written is skipped; the next row reports the error.
            let _ = self.append(&PartLine::Beat { time: time.to_string(), advanced: self.advanced() });
        }
    }

    fn advanced(&self) -> bool {
        self.checkpoints.get().is_some_and(Checkpoints::have_advanced)
    }

    fn append(&self, line: &PartLine) -> Result<(), ClusterError> {
        lock(&self.writer).append(line)
    }

    /// Where the attempt runs, with the seconds for which the job was suspended since the last call: cases run one after another.
    fn place(&self) -> Option<NodePlace> {
        let suspended_seconds = std::mem::take(&mut *lock(&self.suspended_seconds));
        self.place.get().map(|place| NodePlace { suspended_seconds, ..place.clone() })
    }
}

/// The rows of the attempt.
pub(crate) struct PartRows {
    part: Arc<Part>,
    statuses: HashMap<String, CaseStatus>,
    time: JobTime,
    /// Seconds that each case may take, where known.
    bounds: HashMap<String, f64>,
    /// Whether a case has started.
    has_begun: bool,
    /// Whether a case has not started because too little time was left.
    pub(crate) is_time_over: bool,
}

impl PartRows {
    /// No rows. Cases start while the job has time for them.
    pub(crate) fn new(part: Arc<Part>, time: JobTime, bounds: HashMap<String, f64>) -> Self {
        let statuses = HashMap::new();
        Self { part, statuses, time, bounds, has_begun: false, is_time_over: false }
    }

    fn store(&self, line: &PartLine) -> Result<(), RunError> {
        self.part.append(line).map_err(|error| match error {
            ClusterError::Io { action, path, source } => RunError::Io { action, path, source },
            other => RunError::Damaged { path: self.part.path.clone(), reason: other.to_string() },
        })
    }
}

impl RowSink for PartRows {
    /// The first case starts in any case: no attempt could give it more time.
    fn begin(&mut self, id: &str) -> Result<bool, RunError> {
        let bound = self.bounds.get(id).copied();
        self.is_time_over = self.has_begun && !self.time.is_enough(bound, Instant::now());
        if self.is_time_over {
            report::line(format_args!(
                "case {id} may take {:.0} s, which are not left of the job's time; another attempt runs it",
                bound.unwrap_or_default()
            ));
            return Ok(false);
        }
        self.has_begun = true;
        self.store(&PartLine::Started { time: now(), id: id.to_owned() }).map(|()| true)
    }

    fn append(&mut self, row: &Row) -> Result<(), RunError> {
        let row = Row { place: self.part.place(), ..row.clone() };
        let id = row.id.clone();
        self.statuses.insert(id.clone(), row.status);
        self.store(&PartLine::Case(Box::new(row)))?;
        self.part.end_case(&id);
        Ok(())
    }

    fn status(&self, id: &str) -> Option<CaseStatus> {
        self.statuses.get(id).copied()
    }
}

fn now() -> String {
    Timestamp::now().to_string()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
