//! From a spec's path to a plan that can run: names looked up, data at hand,
//! binaries fingerprinted. Whatever can be wrong is found here, before any case runs.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use gpbench_data::Sha256Hex;
use gpbench_data::locate::Places;
use gpbench_engine as engine;
use gpbench_import::Materialised;
use gpbench_record::{Environment, Fingerprint, Source};
use gpbench_spec::{Plan, PlannedCase};

use crate::args::{Global, RunArgs, SpecArgs};
use crate::catalog;
use crate::exit::Failure;
use crate::output::Styles;
use crate::revision::Revision;
use crate::verbs::data::{Missing, obtain};
use crate::verbs::plan::{Outlook, outlook};
use crate::worker::{Numerics, Worker};

/// A spec that is right, and the program that will run it.
pub(crate) struct Checked {
    /// The cases, filtered as the user asked.
    pub(crate) plan: Plan,
    /// Threads of the whole run.
    pub(crate) threads: usize,
    /// The worker program.
    pub(crate) worker: Worker,
    /// The spec's text, with what the command line changed.
    text: String,
}

/// A plan that can run.
pub(crate) struct Prepared {
    /// What the engine runs.
    pub(crate) plan: engine::Plan,
    /// Threads of the whole run.
    pub(crate) threads: usize,
    /// The worker program.
    pub(crate) worker: Worker,
    /// What it is likely to take.
    pub(crate) outlook: Outlook,
    /// Environment variables for the worker.
    pub(crate) blas_settings: BTreeMap<String, String>,
    /// gpbench's cache.
    pub(crate) cache: PathBuf,
}

/// All processors that this process may use.
pub(crate) fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// This machine, with what only the worker knows of its numerics.
pub(crate) fn environment(numerics: &Numerics, threads: usize) -> Environment {
    Environment {
        cpu_dispatch: numerics.cpu_dispatch.clone(),
        blas: numerics.blas.clone(),
        blas_core: numerics.blas_core.clone(),
        rustc: env!("GPBENCH_RUSTC").to_owned(),
        ..engine::environment(env!("CARGO_PKG_VERSION"), threads)
    }
}

/// What an environment says of one run: the revision around its spec, and the checksums of all it reads.
fn of_run(environment: Environment, spec: &Path, text: &str, cases: &[engine::PlannedCase]) -> Environment {
    let git = Revision::around(spec);
    let datasets = cases.iter().filter_map(|planned| {
        Some((planned.case.dataset.name.clone(), planned.fingerprint.dataset_sha256.clone()?))
    });
    let plugins = cases.iter().map(|planned| {
        let name = planned.plugin_file.file_name().unwrap_or_default();
        (name.to_string_lossy().into_owned(), planned.fingerprint.plugin_sha256.clone())
    });
    Environment {
        git_revision: git.as_ref().map(|git| git.commit.clone()),
        git_dirty: git.map(|git| git.dirty),
        spec_sha256: Sha256Hex::of_bytes(text.as_bytes()).to_string(),
        worker_sha256: cases
            .first()
            .map(|planned| planned.fingerprint.worker_sha256.clone())
            .unwrap_or_default(),
        plugins: plugins.collect(),
        datasets: datasets.collect(),
        ..environment
    }
}

/// Reads and checks a spec against the plugins and data sets that there are.
pub(crate) fn check(global: &Global, args: &SpecArgs) -> Result<Checked, Failure> {
    let typed = gpbench_spec::load(&args.spec, &args.sets).map_err(Failure::usage)?;
    let worker = Worker::locate()?;
    let typed = typed.with_libraries(&catalog::added(&worker, &args.libraries)?);
    let (libraries, unusable) = catalog::libraries(&worker, &typed.libraries())?;
    let styles = Styles::new(global.color);
    for text in unusable {
        eprintln!("{} plugin {text}", styles.warning("warning:"));
    }
    let checked = typed.check(&catalog::catalog(libraries)).map_err(Failure::usage)?;
    let plan = checked.plan().filter(&args.solvers, &args.datasets).map_err(Failure::usage)?;
    let threads = args.threads.map(NonZeroUsize::get).or(plan.threads).unwrap_or_else(default_threads);
    Ok(Checked { plan, threads, worker, text: typed.text() })
}

/// Checks a spec, brings its data sets to hand, and fingerprints its binaries.
pub(crate) fn prepare(global: &Global, args: &SpecArgs, run: &RunArgs) -> Result<Prepared, Failure> {
    let Checked { plan, threads, worker, text } = check(global, args)?;
    let places = Places::from_env(global.data_dir.clone()).map_err(Failure::usage)?;
    let numerics = worker.numerics()?;
    let environment = environment(&numerics, threads);
    let datasets = datasets(global, args, &plan, &places)?;
    let binaries = Fingerprint {
        plugin_sha256: String::new(),
        dataset_sha256: None,
        worker_sha256: digest(&worker.file)?,
        threads: (threads / run.jobs).max(1),
        cpu_dispatch: environment.cpu_dispatch.clone(),
        blas_core: environment.blas_core.clone(),
    };
    let outlook = outlook(&plan, threads);
    let cases: Vec<_> =
        plan.cases.into_iter().map(|planned| engine_case(planned, &binaries, &datasets)).collect();
    let environment = of_run(environment, &args.spec, &text, &cases);
    Ok(Prepared {
        plan: engine::Plan { name: plan.name, spec_toml: text, environment, cases },
        threads,
        worker,
        outlook,
        blas_settings: numerics.blas_settings,
        cache: places.cache,
    })
}

/// A data set's binary copy, or why there is none.
type Copies = BTreeMap<String, Result<Materialised, String>>;

/// Brings every data set of the plan to hand, each once.
fn datasets(global: &Global, args: &SpecArgs, plan: &Plan, places: &Places) -> Result<Copies, Failure> {
    let styles = Styles::new(global.color);
    let mut copies = Copies::new();
    for planned in &plan.cases {
        let name = &planned.case.dataset.name;
        if copies.contains_key(name)
            || matches!(planned.case.dataset.source, Source::Toy { .. } | Source::GpDraw(_))
        {
            continue;
        }
        let copy = obtain(
            global,
            places,
            &planned.case.dataset.source,
            planned.dataset_path.as_deref(),
            args.offline,
        );
        match copy {
            Ok(copy) => {
                for warning in &copy.warnings {
                    eprintln!("{} data set `{name}`: {warning}", styles.warning("warning:"));
                }
                copies.insert(name.clone(), Ok(copy));
            }
            Err(missing) if args.skip_missing && missing.is_absent => {
                eprintln!("{} skipping data set `{name}`: {}", styles.warning("warning:"), missing.text);
                copies.insert(name.clone(), Err("its data set is not to be had".to_owned()));
            }
            Err(Missing { text, is_absent }) => {
                let whose = if planned.dataset_path.is_some() {
                    format!("data set `{name}`: ")
                } else {
                    String::new()
                };
                let way_out = if is_absent { "\nor run without it: `--skip-missing`" } else { "" };
                return Err(Failure::usage(format!("{whose}{text}{way_out}")));
            }
        }
    }
    Ok(copies)
}

fn engine_case(planned: PlannedCase, binaries: &Fingerprint, datasets: &Copies) -> engine::PlannedCase {
    let copy = datasets.get(&planned.case.dataset.name);
    let found = copy.and_then(|c| c.as_ref().ok());
    engine::PlannedCase {
        fingerprint: Fingerprint {
            plugin_sha256: planned.plugin_sha256,
            dataset_sha256: found.map(|c| c.sha256.to_string()),
            ..binaries.clone()
        },
        n: planned.n.or(found.map(Materialised::training_rows)),
        dataset_file: found.map(|c| c.path.clone()),
        plugin_file: planned.plugin_file,
        wants_exact: true,
        skip: copy.and_then(|c| c.as_ref().err()).cloned(),
        case: planned.case,
    }
}

fn digest(file: &Path) -> Result<String, Failure> {
    let digest = Sha256Hex::of_file(file);
    digest.map(|d| d.to_string()).map_err(|e| Failure::internal(format!("{}: {e}", file.display())))
}
