//! Exact references: made once per data set, split and hyperparameters, in a process of their own, and stored in
//! the cache between runs.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gpbench_files::remove_stale;
use gpbench_record::{Dataset, ExactRequest, Message, SCHEMA, Source};

use crate::room::try_room;
use crate::tasks::rules;
use crate::{End, EngineError, Event, Executor, Interrupt, Options, Outcome, PlannedCase, WorkItem, text};

/// Bytes that a reference takes beside the matrix: data, right-hand sides, the program itself.
const MARGIN: f64 = 256.0 * 1024.0 * 1024.0;
/// Bytes of a reference's file beside a few numbers a row.
const SPACE: u64 = 1 << 20;

/// The references of one run.
pub(crate) struct ExactReferences<'a> {
    executor: &'a dyn Executor,
    options: &'a Options,
    interrupt: &'a Interrupt,
    folder: PathBuf,
    /// By key; `None` for one that could not be made. A second thread that needs one waits for the first.
    made: Mutex<HashMap<String, Reference>>,
    /// Why a reference could not be written.
    no_room: OnceLock<EngineError>,
}

type Reference = Arc<OnceLock<Option<PathBuf>>>;

impl<'a> ExactReferences<'a> {
    pub(crate) fn new(executor: &'a dyn Executor, options: &'a Options, interrupt: &'a Interrupt) -> Self {
        let folder = options.cache_dir.join("exact");
        remove_stale(&folder);
        Self { executor, options, interrupt, folder, made: Mutex::default(), no_room: OnceLock::new() }
    }

    /// The error of a disk without room for a reference. The run ends then: without the reference, rows would lack
    /// metrics that they have where there is room.
    pub(crate) fn no_room(&self) -> Option<&EngineError> {
        self.no_room.get()
    }

    /// Bytes that making the reference of a case takes, or comparing with exact answers that are computed while it is
    /// verified; 0 if nothing is to be computed.
    pub(crate) fn bytes_to_make(&self, planned: &PlannedCase) -> u64 {
        let Some(n) = self.wanted(planned) else { return 0 };
        let is_decided = rules(planned.case.task.kind()).exact_reference && {
            let key = key(&request(planned), planned);
            let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            made.get(&key).is_some_and(|made| made.get().is_some()) || self.path(&key).is_file()
        };
        if is_decided { 0 } else { needed(n) as u64 }
    }

    /// The training rows of a case that wants a reference.
    fn wanted(&self, planned: &PlannedCase) -> Option<usize> {
        planned.n.filter(|n| planned.wants_exact && *n <= self.options.exact_limit)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.bin"))
    }

    /// The reference of a case, if it wants one and one can be made. A reference that cannot be made is a warning;
    /// no case fails for it.
    pub(crate) fn of(&self, planned: &PlannedCase, log: &Path, report: &dyn Fn(Event)) -> Option<PathBuf> {
        let n = self.wanted(planned)?;
        let mut request = request(planned);
        let key = key(&request, planned);
        let path = self.path(&key);
        request.output = path.clone();
        let reference = {
            let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(made.entry(key).or_default())
        };
        let make = || {
            if path.is_file() {
                return Some(path);
            }
            let labels = planned.case.labels();
            let announce = || report(Event::ExactStarted { labels: labels.clone(), n });
            match self.make(request, n, log, announce) {
                Ok(()) => Some(path),
                Err(_) if self.interrupt.signal().is_some() => None,
                Err(reason) => {
                    if let Err(error) = try_room(&self.folder, SPACE + 24 * n as u64) {
                        let _ = self.no_room.set(error);
                    }
                    let name = &labels.dataset;
                    report(Event::Warning(format!("no exact reference for {name} (n = {n}): {reason}")));
                    None
                }
            }
        };
        reference.get_or_init(make).clone()
    }

    /// Makes a reference. The worker replaces its file as a whole, so that a file that exists is complete.
    fn make(&self, request: ExactRequest, n: usize, log: &Path, announce: impl Fn()) -> Result<(), String> {
        let needed = needed(n);
        if let Some(free) = self.executor.free_memory().filter(|free| (*free as f64) < needed) {
            return Err(format!("it takes {}, {} are free", text::bytes(needed as u64), text::bytes(free)));
        }
        fs::create_dir_all(&self.folder).map_err(|error| format!("{}: {error}", self.folder.display()))?;
        announce();
        let outcome = self.executor.run(&WorkItem::Exact(request), log, self.interrupt);
        refusal(&outcome).map_or(Ok(()), Err)
    }
}

/// Bytes that a reference of n training rows takes.
fn needed(n: usize) -> f64 {
    8.0 * (n as f64).powi(2) * 1.25 + MARGIN
}

/// The key of a case's reference.
fn key(request: &ExactRequest, planned: &PlannedCase) -> String {
    let fingerprint = &planned.fingerprint;
    request.key(fingerprint.dataset_sha256.as_deref(), &fingerprint.worker_sha256)
}

/// The request for the reference of a case, without the file to write.
fn request(planned: &PlannedCase) -> ExactRequest {
    ExactRequest {
        schema: SCHEMA,
        dataset: planned.case.dataset.clone(),
        kernel: planned.case.kernel.clone(),
        seed: if depends_on_seed(&planned.case.dataset) { planned.case.seed } else { 0 },
        dataset_file: planned.dataset_file.clone(),
        output: PathBuf::new(),
        threads: planned.fingerprint.threads,
    }
}

/// Whether the seed draws the rows; otherwise all seeds share one reference.
fn depends_on_seed(dataset: &Dataset) -> bool {
    let draws_rows = match dataset.source {
        Source::Registry { .. } | Source::File { .. } => false,
        Source::Toy { .. } | Source::GpDraw(_) => true,
    };
    draws_rows || dataset.subsample.is_some()
}

/// Why a work item has made no reference.
fn refusal(outcome: &Outcome) -> Option<String> {
    if outcome.messages.iter().any(|message| matches!(message, Message::Exact(_))) {
        return None;
    }
    Some(match (outcome.failure(), &outcome.end) {
        (Some(failure), _) => failure.reason.clone(),
        (None, End::Signalled { signal, .. }) => format!("the worker was ended by {}", text::signal(*signal)),
        (None, End::NotStarted { reason }) => format!("the worker did not start: {reason}"),
        (None, _) => "the worker ended before reporting it".into(),
    })
}
