//! Exact references: made once per data set, split and hyperparameters, in a process of their own, and stored in
//! the cache between runs. Where the cache cannot be written to, they are made for one run.

mod places;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gpbench_record::{Dataset, ExactRequest, Fault, FaultCause, Labels, Message, Metrics, SCHEMA, names};

use self::places::Places;
use crate::begun::Begun;
use crate::log::Log;
use crate::status::unanswered;
use crate::{Event, Executor, Interrupt, Planned, RunOptions, WorkItem, text};

/// Bytes that a reference takes beside the matrix: data, right-hand sides, the program itself.
const MARGIN: f64 = 256.0 * 1024.0 * 1024.0;

/// Failures of the worker that computes a reference after which it is not tried again in this attempt: it takes long.
const MOST_DEATHS: usize = 3;

/// Rounding error of a likelihood, over its magnitude, from which on it is remarked on.
const INACCURATE: f64 = 1e-3;

/// The references of one run.
pub(crate) struct ExactReferences<'a> {
    executor: &'a dyn Executor,
    interrupt: &'a Interrupt,
    places: Places,
    /// By key. A second thread that needs one waits for the first.
    known: Mutex<HashMap<String, Arc<Mutex<State>>>>,
}

/// What is known of a reference.
#[derive(Default)]
struct State {
    /// Whether none can be made, for reasons of its own.
    is_impossible: bool,
    /// How often its file was discarded.
    discarded: usize,
    /// How often the worker that was to make it ended without an answer.
    deaths: usize,
    /// Whether its accuracy was remarked on.
    is_remarked: bool,
}

/// The file of a reference.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    pub(crate) path: PathBuf,
    key: String,
    /// How often it had been discarded before.
    discarded: usize,
}

/// Why there is no reference.
enum Missing {
    /// The machine or a file is at fault.
    Fault(Fault),
    /// None can be made, and why.
    Impossible(String),
    /// The run is to end.
    Interrupted,
}

impl<'a> ExactReferences<'a> {
    /// References in the cache, or else in `scratch`.
    pub(crate) fn new(
        executor: &'a dyn Executor,
        options: &'a RunOptions,
        interrupt: &'a Interrupt,
        scratch: &Path,
    ) -> Self {
        let places = Places::new(options.cache_dir.join("exact"), scratch);
        Self { executor, interrupt, places, known: Mutex::default() }
    }

    /// Bytes that making the reference of a case takes, or comparing with exact answers that are computed while it is
    /// verified; 0 if nothing is to be computed.
    pub(crate) fn bytes_to_make(&self, planned: Planned<'_>) -> u64 {
        let Some(n) = self.wanted(planned) else { return 0 };
        let is_decided = planned.case.task.exact_reference() && {
            let key = key(&request(planned), planned);
            self.places.path(&key).is_file() || self.is_impossible(&key)
        };
        if is_decided { 0 } else { needed(n) as u64 }
    }

    /// The training rows of a case that wants a reference.
    pub(crate) fn wanted(&self, planned: Planned<'_>) -> Option<usize> {
        planned.n.filter(|_| planned.fingerprint.exact)
    }

    /// The reference of a case, if it wants one and one can be made. One that cannot be made for its own reasons, such
    /// as a singular matrix, is a warning.
    ///
    /// # Errors
    /// Where the machine or a file is at fault. The case must have no row then: it would permanently lack metrics that it
    /// has without the fault.
    pub(crate) fn of(
        &self,
        planned: Planned<'_>,
        log: &Path,
        report: &dyn Fn(Event),
    ) -> Result<Option<Reference>, Fault> {
        let Some(n) = self.wanted(planned) else { return Ok(None) };
        let mut request = request(planned);
        let key = key(&request, planned);
        let state = self.state(&key);
        let mut state = lock(&state);
        if state.is_impossible {
            return Ok(None);
        }
        let discarded = state.discarded;
        let reference = || Reference { path: self.places.path(&key), key: key.clone(), discarded };
        // It may have been removed since it was made.
        if self.places.path(&key).is_file() {
            return Ok(Some(reference()));
        }
        if state.deaths >= MOST_DEATHS {
            let reason = format!("exact reference: its worker ended without an answer {MOST_DEATHS} times");
            return Err(Fault { cause: FaultCause::Worker, reason, plugin_ran: false });
        }
        let labels = planned.labels.clone();
        let announce = |again| report(Event::ExactStarted { labels: labels.clone(), n, again });
        match self.make_somewhere(&mut request, &key, report, |request| self.make(request, n, log, &announce))
        {
            Ok(()) => Ok(Some(reference())),
            Err(Missing::Interrupted) => Ok(None),
            Err(Missing::Fault(fault)) => {
                state.deaths += usize::from(fault.cause == FaultCause::Worker);
                Err(fault)
            }
            Err(Missing::Impossible(reason)) => {
                state.is_impossible = true;
                let name = &labels.dataset;
                report(Event::Warning(format!("no exact reference for {name} (n = {n}): {reason}")));
                Ok(None)
            }
        }
    }

    /// Warns, once for each reference, where rounding leaves fewer than three digits of its likelihood: `metrics` are those
    /// of a case that was compared with it.
    pub(crate) fn remark(
        &self,
        reference: &Reference,
        labels: &Labels,
        metrics: &Metrics,
        report: &dyn Fn(Event),
    ) {
        let Some(error) = metrics.get(names::EXACT_ERROR).filter(|error| *error > INACCURATE) else { return };
        let state = self.state(&reference.key);
        if !std::mem::replace(&mut lock(&state).is_remarked, true) {
            let (dataset, kernel, error) = (&labels.dataset, &labels.kernel, text::shortest(error));
            let what = format!("the exact reference for {dataset}, {kernel} is nearly singular");
            let how = "what is compared with it is not known better; a larger noise scale is";
            report(Event::Warning(format!(
                "{what}: rounding changes its log likelihood by about {error} of its size, and {how}"
            )));
        }
    }

    /// Removes the file of a reference that cannot be read, unless another thread has done so.
    pub(crate) fn discard(&self, reference: &Reference) {
        let state = self.state(&reference.key);
        let mut state = lock(&state);
        if state.discarded == reference.discarded {
            if fs::remove_file(&reference.path).is_err() {
                self.places.avoid(&reference.key);
            }
            state.discarded += 1;
        }
    }

    /// Whether a reference is known to be one that cannot be made.
    fn is_impossible(&self, key: &str) -> bool {
        // A thread that makes it has locked it.
        self.state(key).try_lock().is_ok_and(|state| state.is_impossible)
    }

    fn state(&self, key: &str) -> Arc<Mutex<State>> {
        Arc::clone(lock(&self.known).entry(key.to_owned()).or_default())
    }

    /// Makes a reference in the cache, or in a folder of this run where the cache cannot be written to, which is a
    /// warning.
    fn make_somewhere(
        &self,
        request: &mut ExactRequest,
        key: &str,
        report: &dyn Fn(Event),
        make: impl Fn(ExactRequest) -> Result<(), Missing>,
    ) -> Result<(), Missing> {
        let unwritable = |error: io::Error| {
            let reason = format!("exact reference: it cannot be written: {error}");
            Missing::Fault(Fault { cause: FaultCause::Storage, reason, plugin_ran: false })
        };
        let warn = |warning: Option<String>| warning.map(Event::Warning).into_iter().for_each(report);
        warn(self.places.open(key).map_err(unwritable)?);
        request.output = self.places.path(key);
        match make(request.clone()) {
            Err(Missing::Fault(fault))
                if fault.cause == FaultCause::Storage && self.places.is_cache(&request.output) =>
            {
                warn(self.places.refuse(&fault.reason).map_err(unwritable)?);
                request.output = self.places.path(key);
                make(request.clone())
            }
            made => made,
        }
    }

    /// Makes a reference. The worker replaces its file as a whole, so that a file that exists is complete.
    fn make(
        &self,
        request: ExactRequest,
        n: usize,
        log: &Path,
        announce: &dyn Fn(bool),
    ) -> Result<(), Missing> {
        let needed = needed(n);
        if let Some(free) = self.executor.free_memory().filter(|free| (*free as f64) < needed) {
            let reason = format!("it takes {}, {} are free", text::bytes(needed as u64), text::bytes(free));
            // Otherwise other programs use the memory at present, and the row would lack its exact figures permanently.
            if needed > self.executor.machine().memory_bytes as f64 {
                return Err(Missing::Impossible(reason));
            }
            let reason = format!("exact reference: {reason}; a lower --exact-limit leaves it out");
            return Err(Missing::Fault(Fault { cause: FaultCause::Resources, reason, plugin_ran: false }));
        }
        // Without room for a mark there is none for the reference either, whose error is reported.
        let begun = Begun::mark(&request.output).ok();
        announce(begun.as_ref().is_some_and(|(_, again)| *again));
        let outcome = self.executor.run(&WorkItem::Exact(request), log, self.interrupt, &|_| {});
        let is_made = outcome.messages.iter().any(|message| matches!(message, Message::Exact(_)));
        if let Some((begun, _)) = begun.filter(|_| is_made || outcome.failure().is_some()) {
            begun.end();
        }
        if is_made {
            return Ok(());
        }
        if self.interrupt.signal().is_some() {
            return Err(Missing::Interrupted);
        }
        if let Some(failure) = outcome.failure() {
            return Err(Missing::Impossible(failure.reason.clone()));
        }
        let fault = unanswered(&outcome, &Log::read(log));
        Err(Missing::Fault(Fault { reason: format!("exact reference: {}", fault.reason), ..fault }))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes that a reference of n training rows takes.
fn needed(n: usize) -> f64 {
    8.0 * (n as f64).powi(2) * 1.25 + MARGIN
}

/// The key of a case's reference.
fn key(request: &ExactRequest, planned: Planned<'_>) -> String {
    let fingerprint = &planned.fingerprint;
    request.key(fingerprint.dataset_sha256.as_deref(), &fingerprint.worker_sha256)
}

/// The request for the reference of a case, without the file to write.
fn request(planned: Planned<'_>) -> ExactRequest {
    ExactRequest {
        schema: SCHEMA,
        dataset: planned.case.dataset.clone(),
        kernel: planned.case.kernel.clone(),
        seed: if depends_on_seed(&planned.case.dataset) { planned.case.seed } else { 0 },
        dataset_file: planned.files.dataset_file.clone(),
        dataset_sha256: planned.fingerprint.dataset_sha256.clone(),
        output: PathBuf::new(),
        threads: planned.fingerprint.threads,
    }
}

/// Whether the seed draws the rows; otherwise all seeds share one reference.
fn depends_on_seed(dataset: &Dataset) -> bool {
    dataset.source.is_drawn() || dataset.subsample.is_some()
}
