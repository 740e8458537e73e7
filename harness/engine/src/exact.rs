//! Exact references: made once per data set, split and hyperparameters, in a process of their own, and stored in
//! the cache between runs. Where the cache cannot be written to, they are made for one run. Optima of the exact likelihood
//! are made and stored in the same way, once per data set, split and family of kernels.

mod places;
mod request;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gpbench_files::{read_regular, unseal};
use gpbench_record::{Fault, FaultCause, Labels, Metrics, Optimum, names};

use self::places::Places;
use self::request::Request;
use crate::begun::Begun;
use crate::log::Log;
use crate::status::unanswered;
use crate::{Event, Executor, Interrupt, Planned, RunOptions, text};

/// Failures of the worker that computes a reference after which it is not tried again in this attempt: it takes long.
const MOST_DEATHS: usize = 3;

/// Most bytes of the file of an optimum.
const OPTIMUM_BYTES: u64 = 1 << 24;

/// Rounding error of a likelihood, over its magnitude, from which on it is remarked on.
const INACCURATE: f64 = 1e-3;

/// The references of one run.
pub(crate) struct ExactReferences<'a> {
    executor: &'a dyn Executor,
    interrupt: &'a Interrupt,
    places: Places,
    /// By the names of their files. A second thread that needs one waits for the first.
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
    name: String,
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

    /// Bytes that making the references of a case takes, or comparing with exact answers that are computed while it is
    /// verified; 0 if nothing is to be computed.
    pub(crate) fn bytes_to_make(&self, planned: Planned<'_>) -> u64 {
        let is_decided = |request: &Request| {
            let name = request.file_name(planned);
            self.places.path(&name).is_file() || self.is_impossible(&name)
        };
        // The hyperparameters of other tasks are not known yet.
        let is_known = planned.case.task.exact_reference();
        let exact = self.wanted(planned).map(|n| (Request::exact(planned), n));
        let exact = exact.filter(|(request, _)| !(is_known && is_decided(request)));
        let optimum = self.wanted_optimum(planned).filter(|(request, _)| !is_decided(request));
        let bytes = exact.into_iter().chain(optimum).map(|(request, n)| request.bytes(n) as u64);
        bytes.max().unwrap_or_default()
    }

    /// The training rows of a case that wants an exact reference.
    pub(crate) fn wanted(&self, planned: Planned<'_>) -> Option<usize> {
        planned.n.filter(|_| planned.fingerprint.exact)
    }

    /// The request for the optimum that a case is compared with, and its training rows.
    fn wanted_optimum(&self, planned: Planned<'_>) -> Option<(Request, usize)> {
        Request::optimum(planned).zip(planned.n)
    }

    /// Whether a case is compared with an optimum.
    pub(crate) fn wants_optimum(&self, planned: Planned<'_>) -> bool {
        self.wanted_optimum(planned).is_some()
    }

    /// The exact reference of a case, if it wants one and one can be made. One that cannot be made for its own reasons,
    /// such as a singular matrix, is a warning.
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
        match self.wanted(planned) {
            Some(n) => self.find(Request::exact(planned), n, planned, log, report),
            None => Ok(None),
        }
    }

    /// The file of the optimum of the likelihood that a case is compared with; as [`of`](Self::of).
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(crate) fn optimum_of(
        &self,
        planned: Planned<'_>,
        log: &Path,
        report: &dyn Fn(Event),
    ) -> Result<Option<Reference>, Fault> {
        match self.wanted_optimum(planned) {
            Some((request, n)) => self.find(request, n, planned, log, report),
            None => Ok(None),
        }
    }

    /// Finds the file of a reference, or makes it.
    fn find(
        &self,
        request: Request,
        n: usize,
        planned: Planned<'_>,
        log: &Path,
        report: &dyn Fn(Event),
    ) -> Result<Option<Reference>, Fault> {
        let (name, kind) = (request.file_name(planned), request.kind());
        let what = kind.as_str();
        let state = self.state(&name);
        let mut state = lock(&state);
        if state.is_impossible {
            return Ok(None);
        }
        let discarded = state.discarded;
        let reference = || Reference { path: self.places.path(&name), name: name.clone(), discarded };
        // It may have been removed since it was made.
        if self.places.path(&name).is_file() {
            return Ok(Some(reference()));
        }
        if state.deaths >= MOST_DEATHS {
            let reason = format!("{what}: its worker ended without an answer {MOST_DEATHS} times");
            return Err(Fault { cause: FaultCause::Worker, reason, plugin_ran: false });
        }
        let labels = planned.labels.clone();
        let announce = |again| report(Event::ReferenceStarted { labels: labels.clone(), kind, n, again });
        match self.make_somewhere(request, &name, report, |request| self.make(request, n, log, &announce)) {
            Ok(()) => Ok(Some(reference())),
            Err(Missing::Interrupted) => Ok(None),
            Err(Missing::Fault(fault)) => {
                state.deaths += usize::from(fault.cause == FaultCause::Worker);
                Err(fault)
            }
            Err(Missing::Impossible(reason)) => {
                state.is_impossible = true;
                let dataset = &labels.dataset;
                report(Event::Warning(format!("no {what} for {dataset} (n = {n}): {reason}")));
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
        let state = self.state(&reference.name);
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
        let state = self.state(&reference.name);
        let mut state = lock(&state);
        if state.discarded == reference.discarded {
            if fs::remove_file(&reference.path).is_err() {
                self.places.avoid(&reference.name);
            }
            state.discarded += 1;
        }
    }

    /// Whether a reference is known to be one that cannot be made.
    fn is_impossible(&self, name: &str) -> bool {
        // A thread that makes it has locked it.
        self.state(name).try_lock().is_ok_and(|state| state.is_impossible)
    }

    fn state(&self, name: &str) -> Arc<Mutex<State>> {
        Arc::clone(lock(&self.known).entry(name.to_owned()).or_default())
    }

    /// Makes a reference in the cache, or in a folder of this run where the cache cannot be written to, which is a
    /// warning.
    fn make_somewhere(
        &self,
        request: Request,
        name: &str,
        report: &dyn Fn(Event),
        make: impl Fn(Request) -> Result<(), Missing>,
    ) -> Result<(), Missing> {
        let what = request.kind().as_str();
        let unwritable = |error: io::Error| {
            let reason = format!("{what}: it cannot be written: {error}");
            Missing::Fault(Fault { cause: FaultCause::Storage, reason, plugin_ran: false })
        };
        let warn = |warning: Option<String>| warning.map(Event::Warning).into_iter().for_each(report);
        warn(self.places.open(name).map_err(unwritable)?);
        let output = self.places.path(name);
        match make(request.clone().writing(&output)) {
            Err(Missing::Fault(fault))
                if fault.cause == FaultCause::Storage && self.places.is_cache(&output) =>
            {
                warn(self.places.refuse(&fault.reason).map_err(unwritable)?);
                make(request.writing(&self.places.path(name)))
            }
            made => made,
        }
    }

    /// Makes a reference. The worker replaces its file as a whole, so that a file that exists is complete.
    fn make(&self, request: Request, n: usize, log: &Path, announce: &dyn Fn(bool)) -> Result<(), Missing> {
        let (kind, needed) = (request.kind(), request.bytes(n));
        let what = kind.as_str();
        if let Some(free) = self.executor.free_memory().filter(|free| (*free as f64) < needed) {
            let reason = format!("it takes {}, {} are free", text::bytes(needed as u64), text::bytes(free));
            // Otherwise other programs use the memory at present, and the row would lack its exact figures permanently.
            if needed > self.executor.machine().memory_bytes as f64 {
                return Err(Missing::Impossible(reason));
            }
            let reason = format!("{what}: {reason}; {} leaves it out", kind.left_out_by());
            return Err(Missing::Fault(Fault { cause: FaultCause::Resources, reason, plugin_ran: false }));
        }
        // Without room for a mark there is none for the reference either, whose error is reported.
        let begun = Begun::mark(request.output()).ok();
        announce(begun.as_ref().is_some_and(|(_, again)| *again));
        let outcome = self.executor.run(&request.work(), log, self.interrupt, &|_| {});
        let is_made = outcome.messages.iter().any(Request::is_made);
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
        Err(Missing::Fault(Fault { reason: format!("{what}: {}", fault.reason), ..fault }))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reference {
    /// The optimum that its file holds.
    ///
    /// # Errors
    /// That the file cannot be read, or is damaged.
    pub(crate) fn read_optimum(&self) -> Result<Optimum, Fault> {
        let unreadable = |why: String| Fault {
            cause: FaultCause::Reference,
            reason: format!("optimum of the likelihood: {}: {why}", self.path.display()),
            plugin_ran: false,
        };
        let file = read_regular(&self.path, OPTIMUM_BYTES).map_err(|error| unreadable(error.to_string()))?;
        let content = unseal(&file).ok_or_else(|| unreadable("the file is damaged".to_owned()))?;
        serde_json::from_slice(content).map_err(|error| unreadable(error.to_string()))
    }
}
