//! From a spec's path to a plan that can run: names resolved, data sets read, the executor open. Every error of the
//! user is found here, before any case runs.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;

use gpbench_data::locate::SearchPlaces;
use gpbench_engine::{self as engine, Executor, LocalExecutor, SystemClock, WallClock as _};
use gpbench_import::Materialised;
use gpbench_record::{CaseFiles, DatasetNotes, Fingerprint, LibraryInfo, PartOfPlan, PlannedCase, Shard};
use gpbench_runs::PlanFile;
use gpbench_spec::{SpecCase, SpecPlan};
use serde::Deserialize;

use crate::args::{Global, RunArgs, SpecArgs};
use crate::catalog::{self, Libraries};
use crate::dataset::{self, Unavailable};
use crate::environment;
use crate::estimate::RunEstimate;
use crate::exit::Failure;
use crate::notice::warn;
use crate::renewal::Renewal;
use crate::runs;
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
    /// The spec's text, with the changes of the command line.
    text: String,
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
pub(crate) fn check(global: &Global, args: &SpecArgs, placement: &Placement) -> Result<Checked, Failure> {
    let typed = gpbench_spec::load(&args.spec, &args.sets).map_err(Failure::usage)?;
    let worker = Worker::locate()?;
    let typed = typed.with_libraries(&catalog::named_libraries(&worker, &args.libraries)?);
    let Libraries { usable, unusable } = catalog::libraries(&worker, &typed.libraries())?;
    for text in unusable {
        warn(global, format!("plugin {text}"));
    }
    let replayed = typed.replayed_run().map(|folder| runs::rows(global, &folder));
    let catalog = catalog::catalog(usable, replayed);
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
    Ok(Checked {
        sources: sources(&plan, &catalog.libraries),
        plan,
        part,
        threads: threads.unwrap_or(processors),
        worker,
        text: typed.text(),
    })
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
    let Checked { mut plan, part, threads, worker, sources, text } = check(global, args, placement)?;
    let places = dataset::places(global)?;
    let executor = LocalExecutor::open(&worker.file, threads, run.jobs.get()).map_err(Failure::internal)?;
    let datasets = datasets(global, run, &plan, &places)?;
    for case in &mut plan.cases {
        if let Some(Ok(copy)) = datasets.get(&case.case.dataset.name) {
            take_sizes(case, copy);
        }
    }
    check_sizes(&plan)?;
    let estimate = RunEstimate::of(&plan, threads);
    let mut machine = executor.machine();
    if let Some(nodes) = &placement.nodes {
        let Numerics { instruction_set, blas_core } = (nodes.numerics)()?;
        (machine.cpu_dispatch, machine.blas_core) = (instruction_set, blas_core);
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
    let own_file = |case: &SpecCase| Some((case.case.dataset.name.clone(), case.dataset_path.clone()?));
    let own_files = plan.cases.iter().filter_map(own_file).collect();
    let dataset_notes = notes(&plan, &datasets);
    let (cases, files): (Vec<_>, Vec<_>) =
        plan.cases.into_iter().map(|case| planned(case, &programs, &datasets, run.exact_limit)).unzip();
    let file = PlanFile {
        axes: plan.axes,
        report: plan.report,
        sources,
        dataset_notes,
        part,
        cases,
        ..PlanFile::new(plan.name, SystemClock.now())
    };
    let environment = environment::of_run(machine, &args.spec, &text, &file.cases, &files);
    Ok(Prepared {
        plan: engine::Plan { file, files, spec_toml: text, environment },
        executor,
        estimate,
        threads,
        cache: places.cache.clone(),
        renewal: Renewal { places, offline: run.offline, files: own_files, busy: Mutex::default() },
    })
}

/// Takes the sizes of a data set's file, where the spec does not tell them.
pub(crate) fn take_sizes(case: &mut SpecCase, copy: &Materialised) {
    case.take_sizes(copy.n, copy.training_rows(), copy.d);
}

/// Refuses a plan with a case that cannot be run on its number of rows.
pub(crate) fn check_sizes(plan: &SpecPlan) -> Result<(), Failure> {
    plan.cases.iter().find_map(SpecCase::refusal).map_or(Ok(()), |why| Err(Failure::usage(why)))
}

/// The binary copy of each data set, by name, or why it is skipped.
type Copies = BTreeMap<String, Result<Materialised, String>>;

/// Finds or makes the binary copy of every data set of the plan that has a file.
fn datasets(
    global: &Global,
    args: &RunArgs,
    plan: &SpecPlan,
    places: &SearchPlaces,
) -> Result<Copies, Failure> {
    let mut copies = Copies::new();
    for SpecCase { case, dataset_path, .. } in &plan.cases {
        let (name, source) = (&case.dataset.name, &case.dataset.source);
        let Entry::Vacant(place) = copies.entry(name.clone()) else { continue };
        if source.is_drawn() {
            continue;
        }
        match dataset::obtain(global, places, source, dataset_path.as_deref(), args.offline) {
            Ok(copy) => {
                dataset::tell(global, name, &dataset::notes(source, &copy));
                place.insert(Ok(copy));
            }
            Err(missing) if args.skip_missing && missing.is_absent => {
                warn(global, format!("skipping data set `{name}`: {}", missing.text));
                place.insert(Err("its data set is unavailable".to_owned()));
            }
            Err(Unavailable { text, is_absent }) => {
                let whose =
                    if dataset_path.is_some() { format!("data set `{name}`: ") } else { String::new() };
                let hint = if is_absent { "\nor run without it: `--skip-missing`" } else { "" };
                return Err(Failure::usage(format!("{whose}{text}{hint}")));
            }
        }
    }
    Ok(copies)
}

/// The notes on the reading of each data set of a plan that has any, by its name.
fn notes(plan: &SpecPlan, datasets: &Copies) -> BTreeMap<String, DatasetNotes> {
    let of_case = |SpecCase { case, .. }: &SpecCase| {
        let copy = datasets.get(&case.dataset.name)?.as_ref().ok()?;
        Some((case.dataset.name.clone(), dataset::notes(&case.dataset.source, copy)))
    };
    plan.cases.iter().filter_map(of_case).filter(|(_, notes)| !notes.is_empty()).collect()
}

/// A case as planned for machines that run these programs, and its files.
fn planned(
    spec: SpecCase,
    programs: &Fingerprint,
    datasets: &Copies,
    exact_limit: usize,
) -> (PlannedCase, CaseFiles) {
    let copy = datasets.get(&spec.case.dataset.name);
    let found = copy.and_then(|copy| copy.as_ref().ok());
    let cost = spec.cost(programs.threads);
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
        seconds_estimate: cost.map(|cost| cost.seconds),
    };
    let skip = copy.and_then(|copy| copy.as_ref().err()).cloned();
    (PlannedCase::new(spec.case, fingerprint, spec.n, skip), files)
}
