//! Exact references: made once per data set, split and hyperparameters, in a
//! process of their own, and kept in the cache between runs.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gpbench_record::{Dataset, ExactRequest, Message, SCHEMA, Source};

use crate::environment::available_memory;
use crate::folder::try_room;
use crate::forsaken::remove_parts;
use crate::{
    End, EngineError, Event, Executor, Interrupt, Options, Outcome, PlannedCase, Work, status, text,
};

/// Memory beside the matrix: data, right-hand sides, the program itself.
const MARGIN: f64 = 256.0 * 1024.0 * 1024.0;
/// Bytes of a reference's file beside a few numbers a row.
const SPACE: u64 = 1 << 20;

/// The references of one run.
pub(crate) struct ExactReferences<'a> {
    executor: &'a dyn Executor,
    options: &'a Options,
    interrupt: &'a Interrupt,
    folder: PathBuf,
    /// By key; `None` for one that could not be made. Whoever comes second waits for the first.
    made: Mutex<HashMap<String, Reference>>,
    /// Why one could not be written that otherwise might have been made.
    no_room: OnceLock<EngineError>,
}

type Reference = Arc<OnceLock<Option<PathBuf>>>;

impl<'a> ExactReferences<'a> {
    pub(crate) fn new(executor: &'a dyn Executor, options: &'a Options, interrupt: &'a Interrupt) -> Self {
        let folder = options.cache_dir.join("exact");
        remove_parts(&folder);
        Self { executor, options, interrupt, folder, made: Mutex::default(), no_room: OnceLock::new() }
    }

    /// That there was no room for a reference, if so: without, rows would be others than on another day.
    pub(crate) fn no_room(&self) -> Option<&EngineError> {
        self.no_room.get()
    }

    /// The reference of a case, if it wants one and one can be made. That it
    /// cannot is worth a warning, and fails nothing.
    pub(crate) fn of(&self, planned: &PlannedCase, log: &Path, tell: &dyn Fn(Event)) -> Option<PathBuf> {
        let n = planned.n.filter(|n| planned.wants_exact && *n <= self.options.exact_limit)?;
        let mut request = self.request(planned);
        let fingerprint = &planned.fingerprint;
        let key = request.key(fingerprint.dataset_sha256.as_deref(), &fingerprint.worker_sha256);
        let reference = {
            let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(made.entry(key.clone()).or_default())
        };
        let make = || {
            let path = self.folder.join(format!("{key}.bin"));
            if path.is_file() {
                return Some(path);
            }
            request.output = self.folder.join(format!("{key}.{}.part", std::process::id()));
            let labels = planned.case.labels();
            match self
                .make(request, n, &path, log, || tell(Event::ExactStarted { labels: labels.clone(), n }))
            {
                Ok(()) => Some(path),
                Err(_) if self.interrupt.signal().is_some() => None,
                Err(reason) => {
                    if let Err(error) = try_room(&self.folder, SPACE + 24 * n as u64) {
                        let _ = self.no_room.set(error);
                    }
                    let name = &labels.dataset;
                    tell(Event::Warning(format!("no exact reference for {name} (n = {n}): {reason}")));
                    None
                }
            }
        };
        reference.get_or_init(make).clone()
    }

    fn request(&self, planned: &PlannedCase) -> ExactRequest {
        ExactRequest {
            schema: SCHEMA,
            dataset: planned.case.dataset.clone(),
            kernel: planned.case.kernel.clone(),
            seed: if depends_on_seed(&planned.case.dataset) { planned.case.seed } else { 0 },
            dataset_file: planned.dataset_file.clone(),
            output: PathBuf::new(),
            threads: self.options.threads_per_case(),
        }
    }

    fn make(
        &self,
        request: ExactRequest,
        n: usize,
        path: &Path,
        log: &Path,
        announce: impl Fn(),
    ) -> Result<(), String> {
        let needed = 8.0 * (n as f64).powi(2) * 1.25 + MARGIN;
        if let Some(free) = available_memory().filter(|free| (*free as f64) < needed) {
            return Err(format!("it takes {}, {} are free", text::bytes(needed as u64), text::bytes(free)));
        }
        let failed = |error: std::io::Error| format!("{}: {error}", self.folder.display());
        fs::create_dir_all(&self.folder).map_err(failed)?;
        announce();
        let output = request.output.clone();
        let outcome = self.executor.run(&Work::Exact(request), log, self.interrupt);
        // Under its final name there are only whole references.
        let result = refusal(&outcome).map_or_else(|| fs::rename(&output, path).map_err(failed), Err);
        if result.is_err() {
            let _ = fs::remove_file(&output);
        }
        result
    }
}

/// Whether the seed draws the rows; else all seeds share one reference.
fn depends_on_seed(dataset: &Dataset) -> bool {
    dataset.subsample.is_some() || !matches!(dataset.source, Source::Registry { .. } | Source::File { .. })
}

/// Why an errand for a reference brought none.
fn refusal(outcome: &Outcome) -> Option<String> {
    if outcome.messages.iter().any(|message| matches!(message, Message::Exact(_))) {
        return None;
    }
    Some(match (status::failure(outcome), &outcome.end) {
        (Some(failure), _) => failure.reason.clone(),
        (None, End::Signalled { signal, .. }) => format!("the worker was ended by {}", text::signal(*signal)),
        (None, End::NotStarted { reason }) => format!("the worker did not start: {reason}"),
        (None, _) => "the worker ended before reporting it".into(),
    })
}
