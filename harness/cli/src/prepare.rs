//! From a spec's path to a plan that can run: names resolved, data sets read, the executor open. Every error of the
//! user is found here, before any case runs.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;

use gpbench_engine::{self as engine, Executor, LocalExecutor, SystemClock, WallClock as _};
use gpbench_record::{CaseFiles, ComposedLibrary, Fingerprint, LibraryInfo, PartOfPlan, PlannedCase, Shard};
use gpbench_runs::PlanFile;
use gpbench_spec::{SpecCase, SpecPlan, Typed};
use serde::Deserialize;

use crate::archive;
use crate::args::{Global, RunArgs, SpecArgs};
use crate::catalog::{self, Libraries};
use crate::dataset;
use crate::environment;
use crate::estimate::RunEstimate;
use crate::exit::Failure;
use crate::notice::warn;
use crate::renewal::Renewal;
use crate::runs;
use crate::spec_files::{Reading, SpecFiles};
use crate::worker::Worker;

/// A checked spec, and the program that will run it.
pub(crate) struct Checked {
    /// The cases, filtered as the user asked.
    pub(crate) plan: SpecPlan,
    /// The place of a shard in the whole plan.
    part: Option<PartOfPlan>,
    /// Threads of the whole run.
    pub(crate) threads: usize,
    /// The worker program.
    worker: Worker,
    /// Bibliographic entries of the solvers and learners that the plan uses, by their ids.
    sources: BTreeMap<String, String>,
    /// The libraries of the plan that consist of more than their file.
    libraries: Vec<ComposedLibrary>,
    /// The spec's text, with the changes of the command line.
    text: String,
    /// The files of its data sets that are on this machine.
    files: SpecFiles,
}

/// A plan that can run.
pub(crate) struct Prepared {
    /// The plan for the engine.
    pub(crate) plan: engine::Plan,
    /// Where its cases run.
    pub(crate) executor: LocalExecutor,
    /// Its estimated time.
    pub(crate) estimate: RunEstimate,
    /// Threads of the whole run.
    pub(crate) threads: usize,
    /// gpbench's cache.
    pub(crate) cache: PathBuf,
    /// Makes copies of data sets again.
    pub(crate) renewal: Renewal,
}

/// The part of a plan that is prepared, and the machines that it is prepared for.
#[derive(Default)]
pub(crate) struct Placement {
    /// The part; none for the whole.
    pub(crate) shard: Option<Shard>,
    /// The machines; none for this one.
    pub(crate) nodes: Option<Nodes>,
}

/// Machines that run cases in place of this one.
pub(crate) struct Nodes {
    /// Processors of the smallest.
    pub(crate) processors: usize,
    /// Finds out their numerics, which may take a while. Called once, after the spec is checked.
    pub(crate) numerics: Box<dyn Fn() -> Result<Numerics, Failure>>,
}

/// The numerics of machines, which are part of the ids of cases.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Numerics {
    /// The instruction set.
    #[serde(rename = "cpu_dispatch")]
    pub(crate) instruction_set: String,
    /// The OpenBLAS core type.
    pub(crate) blas_core: String,
}

/// Reads a spec, and checks it against the plugins and data sets of this machine. Of a shard, its cases alone are left.
pub(crate) fn check(
    global: &Global,
    args: &SpecArgs,
    placement: &Placement,
    reading: Reading,
) -> Result<Checked, Failure> {
    let typed = gpbench_spec::load(&args.spec, &args.sets).map_err(Failure::usage)?;
    check_typed(global, typed, args, placement, reading)
}

/// [`check`], of a spec that has been read.
pub(crate) fn check_typed(
    global: &Global,
    typed: Typed,
    args: &SpecArgs,
    placement: &Placement,
    reading: Reading,
) -> Result<Checked, Failure> {
    let worker = Worker::locate()?;
    let typed = typed.with_libraries(&catalog::named_libraries(&worker, &args.libraries)?);
    let Libraries { usable, unusable, unusable_named } = catalog::libraries(&worker, &typed.libraries())?;
    let (typed, left_out) = typed.without_absent(&unusable_named);
    for text in unusable.into_iter().map(|text| format!("plugin {text}")).chain(left_out) {
        warn(global, text);
    }
    let replayed = typed.replayed_run().map(|folder| runs::rows(global, &folder));
    let mut catalog = catalog::catalog(usable, unusable_named, replayed);
    let mut files = SpecFiles::default();
    if reading == Reading::Files {
        (files, catalog.sizes) =
            SpecFiles::read(global, args, &typed.files(&catalog), &dataset::places(global)?);
        catalog.splits = files.split_check();
        let unreadable = |(typed, path): (String, PathBuf)| Some((typed, archive::fault(global, &path)?));
        catalog.unreadable_archives = typed.archives().into_iter().filter_map(unreadable).collect();
    }
    let checked = typed.check(&catalog).map_err(Failure::usage)?;
    let plan =
        checked.plan().filter(&args.filter.solvers(), &args.filter.datasets).map_err(Failure::usage)?;
    let threads = args.threads.map(NonZeroUsize::get).or(plan.threads);
    let processors = placement.nodes.as_ref().map_or_else(environment::processors, |nodes| nodes.processors);
    if let Some(threads) = threads.filter(|threads| *threads > processors) {
        warn(global, format!("{threads} threads share {processors} processors; times will be too long"));
    }
    let (plan, part) = match placement.shard {
        Some(shard) => {
            let (plan, part) = plan.part(shard);
            (plan, Some(part))
        }
        None => (plan, None),
    };
    files.tell_of_splits(global, &plan);
    Ok(Checked {
        sources: sources(&plan, &catalog.libraries),
        libraries: composed(&plan, catalog.libraries),
        plan,
        part,
        threads: threads.unwrap_or(processors),
        worker,
        text: typed.text(),
        files,
    })
}

/// The libraries of a plan that consist of more than their file.
fn composed(plan: &SpecPlan, libraries: Vec<LibraryInfo>) -> Vec<ComposedLibrary> {
    let composed = libraries.into_iter().filter(|library| !library.composition.parts.is_empty());
    let composed = composed.map(|LibraryInfo { file, sha256, composition, .. }| ComposedLibrary {
        file,
        sha256,
        composition,
    });
    let runs = |library: &ComposedLibrary| {
        plan.cases.iter().any(|case| case.plugin_file == library.file && case.plugin_sha256 == library.sha256)
    };
    composed.filter(runs).collect()
}

fn sources(plan: &SpecPlan, libraries: &[LibraryInfo]) -> BTreeMap<String, String> {
    let source = |case: &SpecCase| {
        let id = &case.case.solver.plugin;
        let library = libraries.iter().find(|library| library.sha256 == case.plugin_sha256)?;
        let solver = library.solvers.iter().find(|solver| solver.id == *id)?;
        Some((id.clone(), solver.source.clone()?))
    };
    plan.cases.iter().filter_map(source).collect()
}

/// Checks a spec, reads its data sets, and opens the executor.
pub(crate) fn prepare(
    global: &Global,
    args: &SpecArgs,
    run: &RunArgs,
    placement: &Placement,
) -> Result<Prepared, Failure> {
    let Checked { plan, part, threads, worker, sources, libraries, text, mut files } =
        check(global, args, placement, Reading::Files)?;
    let places = dataset::places(global)?;
    let executor = LocalExecutor::open(&worker.file, threads, run.jobs.get()).map_err(Failure::internal)?;
    files.complete(global, run.offline, &plan, &places)?;
    let estimate = RunEstimate::of(&plan, threads);
    let mut machine = executor.machine();
    match &placement.nodes {
        Some(nodes) => {
            let Numerics { instruction_set, blas_core } = (nodes.numerics)()?;
            (machine.cpu_dispatch, machine.blas_core) = (instruction_set, blas_core);
        }
        None => environment::require_instructions(&machine)?,
    }
    let programs = Fingerprint {
        plugin_sha256: String::new(),
        dataset_sha256: None,
        worker_sha256: machine.worker_sha256.clone(),
        threads: machine.threads,
        cpu_dispatch: machine.cpu_dispatch.clone(),
        blas_core: machine.blas_core.clone(),
        exact: false,
    };
    let own_file = |case: &SpecCase| Some((case.case.dataset.name.clone(), case.own_files.clone()?));
    let own_files = plan.cases.iter().filter_map(own_file).collect();
    let dataset_notes = files.notes(&plan);
    let (cases, files): (Vec<_>, Vec<_>) =
        plan.cases.into_iter().map(|case| planned(case, &programs, &files, run.exact_limit)).unzip();
    let file = PlanFile {
        axes: plan.axes,
        report: plan.report,
        sources,
        dataset_notes,
        part,
        cases,
        ..PlanFile::new(plan.name, SystemClock.now())
    };
    let environment = environment::of_run(machine, &args.spec, &text, (&file.cases, &files, &libraries));
    Ok(Prepared {
        plan: engine::Plan { file, files, libraries, spec_toml: text, environment },
        executor,
        estimate,
        threads,
        cache: places.cache.clone(),
        renewal: Renewal { places, offline: run.offline, files: own_files, busy: Mutex::default() },
    })
}

/// A case as planned for machines that run these programs, and its files.
fn planned(
    spec: SpecCase,
    programs: &Fingerprint,
    files: &SpecFiles,
    exact_limit: usize,
) -> (PlannedCase, CaseFiles) {
    let found = files.copy(&spec.case.dataset.name);
    let skip = files.why_skipped(&spec.case.dataset.name).map(str::to_owned);
    let (cost, optimum) = (spec.cost(programs.threads), spec.optimum_seconds(programs.threads));
    let fingerprint = Fingerprint {
        plugin_sha256: spec.plugin_sha256,
        exact: spec.n.is_some_and(|n| n <= exact_limit),
        dataset_sha256: found.map(|copy| copy.sha256.to_string()),
        ..programs.clone()
    };
    let files = CaseFiles {
        plugin_file: spec.plugin_file,
        dataset_file: found.map(|copy| copy.path.clone()),
        memory_estimate: cost.as_ref().map(|cost| cost.memory_bytes as u64),
        seconds_estimate: cost.map(|cost| cost.seconds + optimum),
    };
    (PlannedCase::new(spec.case, fingerprint, spec.n, skip), files)
}
