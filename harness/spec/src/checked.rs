//! The second station: what a spec means.
//!
//! Names are looked up, defaults filled in, and the product of the axes taken, so
//! that each cell is a [`Case`] with nothing left to decide. Only cells that no
//! exclude removes are resolved: published hyperparameters, say, need not exist
//! for a cell that nobody asks for.

mod axis;
mod budget;
mod dataset;
mod estimator;
mod exclude;
mod inducing;
mod kernel;
mod likelihood;
mod quadrature;
mod replay;
mod solver;
mod train;

use std::collections::HashSet;
use std::path::PathBuf;

use gpbench_record::{Case, EstimatorMethod, Kernel, Precision, Task, Training};
use sha2::{Digest, Sha256};

use crate::catalog::Catalog;
use crate::error::{Mistakes, SpecErrors};
use crate::plan::{Plan, ReportOptions};
use crate::source::{At, Location, START};
use crate::typed::{Root, Typed};
use crate::{REFERENCES, nearest};

/// A spec that is right: every cell of its matrix resolved.
#[derive(Debug, Clone)]
pub struct Checked {
    pub(crate) name: String,
    pub(crate) task: Task,
    pub(crate) threads: Option<usize>,
    pub(crate) repeats: u32,
    pub(crate) order_seed: u64,
    pub(crate) report: ReportOptions,
    pub(crate) cells: Vec<Cell>,
}

/// One cell of the matrix.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// The case, as its first repeat.
    pub(crate) case: Case,
    pub(crate) plugin_file: PathBuf,
    pub(crate) plugin_sha256: String,
    /// Whether the solver says that it is exact.
    pub(crate) exact: bool,
    /// The user's own file, for a data set given by path.
    pub(crate) dataset_path: Option<PathBuf>,
    /// Training rows, where known.
    pub(crate) n: Option<usize>,
    /// Inputs, where known.
    pub(crate) d: Option<usize>,
}

impl Checked {
    /// The spec's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cases in the order in which they run.
    pub fn plan(&self) -> Plan {
        Plan::of(self)
    }
}

/// Cases that a plan may have: each takes about a kilobyte of memory, and seconds to days to run.
const MOST_CASES: usize = 100_000;

pub(crate) fn check(typed: &Typed, catalog: &Catalog) -> Result<Checked, SpecErrors> {
    let root = &typed.root;
    let mut mistakes = typed.mistakes.clone();
    let name = spec_name(root, &mut mistakes);
    let task = task(root, &mut mistakes);
    let seeds = seeds(root, &mut mistakes);
    let repeats = repeats(root, &mut mistakes);
    let threads = root.threads.as_ref().map(|t| positive(Some(t), "threads", 1, &mut mistakes) as usize);
    precision(root, &mut mistakes);
    let axes = axis::Axes::resolve(typed, catalog, task, &mut mistakes);
    let report = report(typed, &axes, &mut mistakes);
    let excludes = exclude::resolve(typed, &axes, &seeds, &mut mistakes);
    let train = train::resolve(root, task, &mut mistakes);
    let shared = axes.kernels.iter().map(|kernel| kernel.shares_length_scale());
    train::check_landscape(typed, &axes.estimators, shared, &mut mistakes);
    let repetitions = likelihood::resolve(root, task, &mut mistakes);
    let replay = replay::Replay::open(typed, &mut mistakes);
    let mean = train::mean(root, &mut mistakes);
    let study = Study { task, train, mean, replay, repetitions };
    let cells = match bounded(&axes, seeds.len(), repeats, &mut mistakes) {
        true => cells(typed, &study, &axes, &seeds, &excludes, &mut mistakes),
        false => Vec::new(),
    };
    mistakes.into_result(&typed.sources)?;
    let order_seed = root.order_seed.as_ref().map_or_else(|| hash(&name), |seed| seed.value as u64);
    Ok(Checked { name, task, threads, repeats, order_seed, report, cells })
}

/// What all cells are asked.
struct Study<'a> {
    task: Task,
    train: Option<Training>,
    mean: Option<f64>,
    replay: Option<replay::Replay<'a>>,
    repetitions: Option<u64>,
}

/// Refuses a product of the axes that no machine will ever run, before it fills the memory.
fn bounded(axes: &axis::Axes<'_>, seeds: usize, repeats: u32, mistakes: &mut Mistakes) -> bool {
    let lengths = [axes.datasets.len(), axes.kernels.len(), axes.estimators.len(), axes.solvers.len(), seeds];
    let cases = lengths.iter().fold(repeats as usize, |product, length| product.saturating_mul(*length));
    if cases > MOST_CASES {
        let hint = "take seeds, repeats or entries of the matrix away, or write several specs".to_owned();
        mistakes.add(
            &START,
            format!("the spec has {cases} cases; at most {MOST_CASES} can be planned"),
            hint,
        );
    }
    cases <= MOST_CASES
}

/// The product of the axes without the excluded cells.
fn cells(
    typed: &Typed,
    study: &Study<'_>,
    axes: &axis::Axes<'_>,
    seeds: &[At<u64>],
    excludes: &[exclude::Rule],
    mistakes: &mut Mistakes,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut excluded = vec![false; excludes.len()];
    let mut possible = 0_usize;
    for dataset in &axes.datasets {
        for kernel in &axes.kernels {
            for estimator in &axes.estimators {
                for solver in &axes.solvers {
                    for seed in seeds {
                        possible += 1;
                        let names = [&dataset.name, &kernel.name, &estimator.name, &solver.name];
                        let hits = excludes.iter().map(|rule| rule.matches(names, seed.value));
                        let mut excluded_here = false;
                        for (was, hit) in excluded.iter_mut().zip(hits) {
                            *was |= hit;
                            excluded_here |= hit;
                        }
                        if excluded_here {
                            continue;
                        }
                        let rows = dataset.rows(seed, mistakes);
                        let (Some(rows), Some(params)) = (rows, solver.params_for(&dataset.name)) else {
                            continue;
                        };
                        if let (Some(at), Some(_)) = (&dataset.collapse, params.inducing) {
                            refuse_collapse(at, &dataset.name, &solver.name, mistakes);
                        }
                        let (shared_length_scale, subset) = (kernel.shares_length_scale(), kernel.subset());
                        let Some(kernel) = kernel.numbers(dataset, rows.split, mistakes) else { continue };
                        let exact = estimator.method == EstimatorMethod::Exact;
                        let train = study.train.clone().map(|train| Training {
                            shared_length_scale,
                            subset,
                            landscape: train.landscape.filter(|_| exact),
                            ..train
                        });
                        let mut case = Case {
                            task: study.task,
                            dataset: rows,
                            kernel: Kernel { mean: study.mean, ..kernel },
                            estimator: estimator.clone(),
                            solver: params,
                            budget: solver.budget,
                            train,
                            repetitions: study.repetitions,
                            precision: Precision::F64,
                            seed: seed.value,
                            repeat: 0,
                        };
                        if let (Some(replay), Some(train)) = (&study.replay, &case.train) {
                            case.train = replay.along(&case, train, mistakes);
                        }
                        cells.push(Cell {
                            case,
                            plugin_file: solver.library.file.clone(),
                            plugin_sha256: solver.library.sha256.clone(),
                            exact: solver.is_exact(),
                            dataset_path: dataset.path.clone(),
                            n: dataset.n,
                            d: dataset.d,
                        });
                    }
                }
            }
        }
    }
    // Under a narrowed matrix an exclude may well have lost its cells.
    if possible > 0 && !typed.axes_overridden {
        for (rule, _) in excludes.iter().zip(&excluded).filter(|(rule, hit)| !rule.wrong && !**hit) {
            mistakes.add(&rule.at, "this exclude matches no cell of the matrix", None);
        }
    }
    if possible > 0 && cells.is_empty() && mistakes.is_empty() {
        let at = &excludes[0].at;
        mistakes.add(at, "the excludes leave no cell of the matrix", None);
    }
    cells
}

/// Unknowns of inducing points are not shared by rows: there is nothing to collapse.
fn refuse_collapse(at: &Location, dataset: &str, solver: &str, mistakes: &mut Mistakes) {
    let what = format!(
        "data set `{dataset}` collapses duplicates, which does not go with the inducing points of solver \
         `{solver}`"
    );
    let hint = "exclude the pair, or give the solver a data set of its own".to_owned();
    mistakes.add(at, what, hint);
}

/// The name becomes a folder under the output directory.
fn spec_name(root: &Root, mistakes: &mut Mistakes) -> String {
    let Some(name) = &root.name else { return String::new() };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let text = &name.value;
    if text.is_empty() || text.starts_with('.') || !text.chars().all(fits) {
        let hint = "use letters, digits, `-`, `_` and `.`".to_owned();
        mistakes.add(&name.at, format!("`{text}` cannot name a run's folder"), hint);
    } else if text == "latest" {
        mistakes.add(&name.at, "`latest` is reserved: it stands for the newest run", None);
    }
    text.clone()
}

fn task(root: &Root, mistakes: &mut Mistakes) -> Task {
    const TASKS: [&str; 4] = ["solve", "posterior", "train", "likelihood"];
    let Some(task) = &root.task else { return Task::Posterior };
    match task.value.as_str() {
        "solve" => return Task::Solve,
        "train" => return Task::Train,
        "likelihood" => return Task::Likelihood,
        "posterior" => {}
        later @ "thompson" => {
            let hint = "use \"solve\", \"posterior\", \"train\" or \"likelihood\"".to_owned();
            mistakes.add(&task.at, format!("task \"{later}\" is not available in this version"), hint);
        }
        other => {
            let hint = nearest::hint(other, TASKS);
            mistakes.add(&task.at, format!("unknown task \"{other}\""), hint);
        }
    }
    Task::Posterior
}

fn precision(root: &Root, mistakes: &mut Mistakes) {
    let Some(precision) = &root.precision else { return };
    match precision.value.as_str() {
        "f64" => {}
        "mixed" => mistakes.add(&precision.at, "precision \"mixed\" is not available in this version", None),
        other => mistakes.add(
            &precision.at,
            format!("unknown precision \"{other}\""),
            nearest::hint(other, ["f64"]),
        ),
    }
}

/// Seeds, one of which is 0 if the spec gives none.
fn seeds(root: &Root, mistakes: &mut Mistakes) -> Vec<At<u64>> {
    let Some(typed) = &root.seeds else {
        return vec![At { value: 0, at: START }];
    };
    if typed.value.is_empty() {
        mistakes.add(&typed.at, "`seeds` is empty", "give at least one, as in seeds = [0]".to_owned());
    }
    let mut seeds: Vec<At<u64>> = Vec::new();
    let mut seen = HashSet::new();
    for seed in &typed.value {
        match u32::try_from(seed.value) {
            Err(_) => {
                mistakes.add(&seed.at, format!("seed {} is not between 0 and {}", seed.value, u32::MAX), None)
            }
            Ok(value) if !seen.insert(value) => {
                let hint = "to time a case several times, set `repeats`".to_owned();
                mistakes.add(&seed.at, format!("seed {value} stands twice"), hint);
            }
            Ok(value) => seeds.push(At { value: value.into(), at: seed.at.clone() }),
        }
    }
    seeds
}

fn repeats(root: &Root, mistakes: &mut Mistakes) -> u32 {
    const MOST: u32 = 1000;
    let repeats = positive(root.repeats.as_ref(), "repeats", 1, mistakes);
    if let Some(given) = &root.repeats
        && repeats > MOST
    {
        mistakes.add(&given.at, format!("`repeats` is at most {MOST}, not {repeats}"), None);
    }
    repeats.min(MOST)
}

/// A count of at least 1.
pub(crate) fn positive(given: Option<&At<i64>>, key: &str, default: u32, mistakes: &mut Mistakes) -> u32 {
    let Some(given) = given else { return default };
    match u32::try_from(given.value) {
        Ok(value) if value > 0 => value,
        _ => {
            mistakes.add(&given.at, format!("`{key}` must be a positive whole number"), None);
            default
        }
    }
}

fn report(typed: &Typed, axes: &axis::Axes<'_>, mistakes: &mut Mistakes) -> ReportOptions {
    let reference = typed.root.report.reference.as_ref().map(|reference| {
        if !REFERENCES.contains(&reference.value.as_str()) {
            let hint = nearest::hint(&reference.value, REFERENCES.iter().copied());
            mistakes.add(&reference.at, format!("no published figures called `{}`", reference.value), hint);
        }
        reference.value.clone()
    });
    let baseline = typed.root.report.baseline.as_ref().map(|baseline| {
        if !axes.solver_names.contains(&baseline.value) && !typed.axes_overridden {
            let hint = nearest::hint(&baseline.value, axes.solver_names.iter().map(String::as_str));
            mistakes.add(
                &baseline.at,
                format!("baseline `{}` is not on the solver axis", baseline.value),
                hint,
            );
        }
        baseline.value.clone()
    });
    ReportOptions { reference, baseline }
}

/// A number that any text always gives.
fn hash(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    u64::from_le_bytes(digest[..8].try_into().expect("a SHA-256 has 32 bytes"))
}
