//! What this machine has to check a run with: the worker, plugins and data sets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gpbench_data::locate::{DATA_VARIABLE, SearchPlaces};
use gpbench_engine::{Engine, Event, Interrupt, LocalExecutor, Planned, RunOptions, SystemClock};
use gpbench_import::Materialised;
use gpbench_record::{
    CaseFiles, ComposedLibrary, Dataset, Environment, Fingerprint, LibraryInfo, PlannedCase, Source,
};
use gpbench_spec::OwnFiles;
use tempfile::TempDir;

use crate::args::Global;
use crate::catalog::{self, Libraries};
use crate::dataset::{self, Unavailable};
use crate::exit::Failure;
use crate::notice::{say, warn};
use crate::worker::Worker;

/// Options of what is computed here.
pub(crate) struct Wanted<'a> {
    /// Plugin libraries beside those that gpbench finds by itself.
    pub(crate) libraries: &'a [PathBuf],
    /// Threads of each case.
    pub(crate) threads: usize,
    /// Most training rows for which exact references are computed.
    pub(crate) exact_limit: usize,
    /// Seconds after which a case that runs again is ended, whatever its budget of time.
    pub(crate) kill_after: f64,
    /// Whether the run is a packed one, which a stranger may have written.
    pub(crate) is_packed: bool,
}

/// What this machine has to check a run with.
pub(crate) struct Here<'g> {
    global: &'g Global,
    executor: LocalExecutor,
    machine: Environment,
    libraries: Vec<LibraryInfo>,
    /// The data sets of the run, by name.
    data: BTreeMap<String, DataHere>,
    options: RunOptions,
    /// Most seconds of a case that runs again.
    longest: f64,
    exact_limit: usize,
    folder: TempDir,
    interrupt: Interrupt,
}

/// A data set of a run, as far as it is here.
pub(crate) enum DataHere {
    /// It is drawn from the seeds of its cases, and needs no file.
    Drawn,
    /// Its binary copy.
    Copy(Box<Materialised>),
    /// Why it is not here.
    Absent(String),
}

/// A case of a run that can be computed here.
pub(crate) struct CaseHere {
    entry: PlannedCase,
    files: CaseFiles,
    /// The plugin's library, if it consists of more than its file.
    pub(crate) library: Option<ComposedLibrary>,
}

impl CaseHere {
    /// The case for the engine.
    pub(crate) fn planned(&self) -> Planned<'_> {
        Planned { entry: &self.entry, files: &self.files }
    }
}

impl<'g> Here<'g> {
    /// Looks for the plugins and the data sets of these cases. Nothing is downloaded.
    pub(crate) fn find(
        global: &'g Global,
        wanted: &Wanted<'_>,
        cases: &[PlannedCase],
    ) -> Result<Here<'g>, Failure> {
        let worker = Worker::locate()?;
        let named = catalog::named_libraries(&worker, wanted.libraries)?;
        let Libraries { usable, unusable, .. } = catalog::libraries(&worker, &[])?;
        unusable.iter().for_each(|text| warn(global, format!("plugin {text}")));
        let places = dataset::places(global)?;
        let mut data = BTreeMap::new();
        for PlannedCase { case, .. } in cases {
            let found = || find_data(global, &places, &case.dataset, wanted.is_packed);
            data.entry(case.dataset.name.clone()).or_insert_with(found);
        }
        let executor = LocalExecutor::open(&worker.file, wanted.threads, 1).map_err(Failure::internal)?;
        let folder = tempfile::Builder::new().prefix("gpbench-verify-").tempdir();
        let folder = folder.map_err(|error| Failure::internal(format!("no temporary folder: {error}")))?;
        Ok(Here {
            global,
            machine: gpbench_engine::Executor::machine(&executor),
            executor,
            libraries: named.into_iter().chain(usable).collect(),
            data,
            options: RunOptions {
                output_dir: global.output_dir.clone(),
                cache_dir: places.cache.clone(),
                kill_after_seconds: Some(wanted.kill_after),
                ..RunOptions::default()
            },
            longest: wanted.kill_after,
            exact_limit: wanted.exact_limit,
            folder,
            interrupt: Interrupt::on_signals().map_err(Failure::internal)?,
        })
    }

    /// The data sets of the run, by name.
    pub(crate) fn data(&self) -> &BTreeMap<String, DataHere> {
        &self.data
    }

    /// The library that offers the solver of a case: the one that was planned, or another.
    pub(crate) fn library(&self, entry: &PlannedCase) -> Option<&LibraryInfo> {
        let id = &entry.case.solver.plugin;
        let offers = |library: &&LibraryInfo| library.solvers.iter().any(|solver| solver.id == *id);
        let is_planned = |library: &&LibraryInfo| library.sha256 == entry.fingerprint.plugin_sha256;
        let mut all = self.libraries.iter().filter(offers);
        all.clone().find(is_planned).or_else(|| all.next())
    }

    /// A case as it can be computed here. `library` solves it; without one, its solution can be verified.
    ///
    /// # Errors
    /// Why its data are not here.
    pub(crate) fn case(
        &self,
        entry: &PlannedCase,
        library: Option<&LibraryInfo>,
    ) -> Result<CaseHere, String> {
        let copy = match &self.data[&entry.case.dataset.name] {
            DataHere::Drawn => None,
            DataHere::Copy(copy) => Some(copy),
            DataHere::Absent(why) => return Err(why.clone()),
        };
        let planned = &entry.fingerprint;
        let fingerprint = Fingerprint {
            plugin_sha256: library.map_or(&planned.plugin_sha256, |library| &library.sha256).clone(),
            dataset_sha256: copy.map(|copy| copy.sha256.to_string()),
            worker_sha256: self.machine.worker_sha256.clone(),
            threads: self.machine.threads,
            cpu_dispatch: self.machine.cpu_dispatch.clone(),
            blas_core: self.machine.blas_core.clone(),
            exact: planned.exact && self.computes_exactly(entry),
        };
        let mut entry = PlannedCase { fingerprint, ..entry.clone() };
        if library.is_some() {
            // A stranger may have granted it any time. A case that a clock ends is not compared.
            let granted = &mut entry.case.budget.seconds;
            *granted = granted.map(|seconds| seconds.min(self.longest));
        }
        let files = CaseFiles {
            plugin_file: library.map(|library| library.file.clone()).unwrap_or_default(),
            dataset_file: copy.map(|copy| copy.path.clone()),
            memory_estimate: None,
            seconds_estimate: None,
        };
        let composed = library.filter(|library| !library.composition.parts.is_empty());
        let library = composed.map(|LibraryInfo { file, sha256, composition, .. }| ComposedLibrary {
            file: file.clone(),
            sha256: sha256.clone(),
            composition: composition.clone(),
        });
        Ok(CaseHere { entry, files, library })
    }

    /// Whether the exact process of a case is computed here.
    pub(crate) fn computes_exactly(&self, entry: &PlannedCase) -> bool {
        entry.n.is_some_and(|n| n <= self.exact_limit)
    }

    /// Runs and verifies cases.
    pub(crate) fn engine(&self) -> Engine<'_> {
        Engine {
            executor: &self.executor,
            clock: &SystemClock,
            interrupt: self.interrupt.clone(),
            renew_dataset: &nothing_to_renew,
        }
    }

    /// Options of what is computed.
    pub(crate) fn options(&self) -> &RunOptions {
        &self.options
    }

    /// The folder of files of cases, which is removed at the end.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The signal that asked for the end, if one did.
    pub(crate) fn signal(&self) -> Option<i32> {
        self.interrupt.signal()
    }

    /// Says what is being computed.
    pub(crate) fn tell(&self, what: &str, entry: &PlannedCase) {
        if !self.global.quiet {
            say(format_args!("{what} {}", entry.labels));
        }
    }

    /// Prints a warning of the engine.
    pub(crate) fn show(&self, event: Event) {
        if let Event::Warning(text) = event {
            warn(self.global, text);
        }
    }
}

/// Single cases need no copy of their data to be made again.
fn nothing_to_renew(_: Planned<'_>) -> Result<(), String> {
    Ok(())
}

/// Looks for a data set. Files of the user's own are searched for below the current folder, by their paths in the
/// spec; of a run that is not packed, also elsewhere.
fn find_data(global: &Global, places: &SearchPlaces, dataset: &Dataset, is_packed: bool) -> DataHere {
    let source = &dataset.source;
    if source.is_drawn() {
        return DataHere::Drawn;
    }
    let own = match source {
        Source::File { path, options } => {
            Some(OwnFiles { data: PathBuf::from(path), test: options.test.as_ref().map(PathBuf::from) })
        }
        _ => None,
    };
    if let Some(path) = own.as_ref().and_then(OwnFiles::outside).filter(|_| is_packed) {
        return DataHere::Absent(format!("data set `{}`: {}", dataset.name, outside(path)));
    }
    match dataset::obtain(global, places, source, own.as_ref(), true) {
        Ok(copy) => DataHere::Copy(Box::new(copy)),
        Err(unavailable) => DataHere::Absent(absent(dataset, &unavailable)),
    }
}

/// Why a file that a packed run names is not read: a stranger chose its path, and messages would tell its content.
pub(super) fn outside(path: &Path) -> String {
    format!("{} is outside the current folder; of a packed run, no such file is read", path.display())
}

/// Why a data set is not at hand, and what to do.
fn absent(dataset: &Dataset, Unavailable { text, is_absent }: &Unavailable) -> String {
    match &dataset.source {
        Source::Registry { name } if *is_absent => {
            format!("data set `{name}` is not here; set {DATA_VARIABLE}, or `gpbench data fetch {name}`")
        }
        Source::File { path, .. } if *is_absent => {
            let name = &dataset.name;
            format!(
                "data set `{name}` is not here; its file is looked for at {path}, below the current folder"
            )
        }
        _ => {
            let first_line = text.lines().next().unwrap_or_default();
            format!("data set `{}` cannot be read: {first_line}", dataset.name)
        }
    }
}
