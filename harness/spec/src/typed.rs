//! The first station: what the user wrote.
//!
//! Every value is of the right type and knows its place; nothing is resolved.
//! A key that is absent, or whose value has the wrong type, is `None`; the latter
//! has left a mistake in [`Typed::mistakes`].

mod fields;
mod read;

use std::path::{Path, PathBuf};

use gpbench_record::LibraryInfo;

use crate::added;
use crate::catalog::Catalog;
use crate::checked::{self, Checked};
use crate::error::{Mistakes, SpecErrors};
use crate::overrides;
use crate::source::{At, Location, SPEC, Sources};
use crate::tree::{self, Node, Table};

/// A spec as typed, with what the command line changed. May hold mistakes;
/// [`Typed::check`] tells them.
#[derive(Debug, Clone)]
pub struct Typed {
    pub(crate) sources: Sources,
    /// The spec's folder: paths in it are relative to this.
    pub(crate) folder: PathBuf,
    pub(crate) mistakes: Mistakes,
    /// Whether `--set` changed an axis, which may leave tables and excludes without use.
    pub(crate) axes_overridden: bool,
    pub(crate) root: Root,
    /// The whole spec, with what the command line changed.
    table: Table,
    /// Whether the command line changed anything.
    is_changed: bool,
}

/// The top level of a spec.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    pub(crate) name: Option<At<String>>,
    pub(crate) task: Option<At<String>>,
    pub(crate) precision: Option<At<String>>,
    pub(crate) seeds: Option<At<Vec<At<i64>>>>,
    pub(crate) repeats: Option<At<i64>>,
    pub(crate) threads: Option<At<i64>>,
    pub(crate) order_seed: Option<At<i64>>,
    pub(crate) matrix: Matrix,
    pub(crate) datasets: Vec<DatasetTable>,
    pub(crate) kernels: Vec<KernelTable>,
    pub(crate) estimators: Vec<EstimatorTable>,
    pub(crate) solvers: Vec<SolverTable>,
    pub(crate) budget: BudgetTable,
    pub(crate) train: Option<At<TrainTable>>,
    pub(crate) likelihood: Option<At<LikelihoodTable>>,
    pub(crate) excludes: Vec<Exclude>,
    pub(crate) report: ReportTable,
}

/// A list of names.
pub(crate) type Names = At<Vec<At<String>>>;

/// The axes.
#[derive(Debug, Clone)]
pub(crate) struct Matrix {
    pub(crate) dataset: Option<Names>,
    pub(crate) kernel: Option<Names>,
    pub(crate) estimator: Option<Names>,
    pub(crate) solver: Option<Names>,
}

/// `[dataset.NAME]`.
#[derive(Debug, Clone)]
pub(crate) struct DatasetTable {
    pub(crate) name: At<String>,
    pub(crate) from: Option<At<String>>,
    pub(crate) path: Option<At<String>>,
    /// A column's name, or its 0-based index as text.
    pub(crate) target: Option<At<String>>,
    pub(crate) subsample: Option<At<Amount>>,
    pub(crate) split: Option<At<i64>>,
    pub(crate) fractions: Option<At<FractionsTable>>,
    pub(crate) collapse_duplicates: Option<At<bool>>,
    pub(crate) n: Option<At<i64>>,
    pub(crate) n_test: Option<At<i64>>,
    pub(crate) d: Option<At<i64>>,
    pub(crate) kernel: Option<At<String>>,
    pub(crate) signal_scale: Option<At<f64>>,
    pub(crate) noise_scale: Option<At<f64>>,
    pub(crate) length_scale: Option<At<f64>>,
}

/// `fractions` of `[dataset.NAME]`.
#[derive(Debug, Clone)]
pub(crate) struct FractionsTable {
    pub(crate) train: Option<At<f64>>,
    pub(crate) test: Option<At<f64>>,
}

/// A count or, with a decimal point, a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Amount {
    Count(i64),
    Share(f64),
}

/// `[kernel.NAME]`.
#[derive(Debug, Clone)]
pub(crate) struct KernelTable {
    pub(crate) name: At<String>,
    pub(crate) family: Option<At<String>>,
    pub(crate) hyperparameters: Option<At<Hyperparameters>>,
}

/// Where a kernel's numbers come from, with the ones that stand in the spec.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hyperparameters {
    /// `published`, `ones` or `generating`; `None`: all numbers stand in the spec.
    pub(crate) from: Option<At<String>>,
    pub(crate) signal_scale: Option<At<f64>>,
    pub(crate) noise_scale: Option<At<f64>>,
    /// One entry is shared by all inputs.
    pub(crate) length_scale: Option<At<Vec<At<f64>>>>,
    /// Where the length scale is said to be one, shared by all inputs, and trained.
    pub(crate) shared: Option<Location>,
    /// Fits of parts of the data, to train from their average.
    pub(crate) fit: Option<FitTable>,
}

/// `{ fit = "subset", ... }`.
#[derive(Debug, Clone)]
pub(crate) struct FitTable {
    pub(crate) method: At<String>,
    pub(crate) centroids: Option<At<i64>>,
    pub(crate) size: Option<At<i64>>,
    pub(crate) steps: Option<At<i64>>,
}

/// `[train]`.
#[derive(Debug, Clone)]
pub(crate) struct TrainTable {
    pub(crate) steps: Option<At<i64>>,
    pub(crate) learning_rate: Option<At<f64>>,
    pub(crate) schedule: Option<At<ScheduleTable>>,
    pub(crate) initial: Option<At<Hyperparameters>>,
    pub(crate) replay: Option<At<ReplayTable>>,
    pub(crate) fixed: Option<At<Vec<At<String>>>>,
    pub(crate) mean: Option<At<String>>,
    pub(crate) landscape: Option<At<LandscapeTable>>,
}

/// `landscape` of `[train]`.
#[derive(Debug, Clone)]
pub(crate) struct LandscapeTable {
    pub(crate) length_scale: Option<At<Vec<At<f64>>>>,
    pub(crate) noise_scale: Option<At<Vec<At<f64>>>>,
    pub(crate) points: Option<At<i64>>,
}

/// `replay` of `[train]`.
#[derive(Debug, Clone)]
pub(crate) struct ReplayTable {
    pub(crate) run: Option<At<String>>,
    pub(crate) solver: Option<At<String>>,
    pub(crate) estimator: Option<At<String>>,
}

/// `schedule` of `[train]`.
#[derive(Debug, Clone)]
pub(crate) enum ScheduleTable {
    Named(String),
    MultiStep { milestones: Vec<i64>, factor: f64 },
}

/// `[likelihood]`.
#[derive(Debug, Clone)]
pub(crate) struct LikelihoodTable {
    pub(crate) repetitions: Option<At<i64>>,
}

/// `[estimator.NAME]`.
#[derive(Debug, Clone)]
pub(crate) struct EstimatorTable {
    pub(crate) name: At<String>,
    pub(crate) method: Option<At<String>>,
    pub(crate) probes: Option<At<i64>>,
    pub(crate) features: Option<At<i64>>,
    pub(crate) frequencies: Option<At<String>>,
    pub(crate) probe_distribution: Option<At<String>>,
    pub(crate) warm_start: Option<At<WarmStart>>,
    pub(crate) second_solve: Option<At<bool>>,
    pub(crate) step: Option<At<i64>>,
}

/// `warm_start` of an estimator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WarmStart {
    Truth(bool),
    Named(String),
}

/// `[solver.NAME]`.
#[derive(Debug, Clone)]
pub(crate) struct SolverTable {
    pub(crate) name: At<String>,
    pub(crate) plugin: Option<At<String>>,
    pub(crate) library: Option<At<String>>,
    /// Parameters; their types are known only to the plugin.
    pub(crate) params: Vec<(At<String>, Node)>,
    pub(crate) inducing: Option<At<InducingTable>>,
    pub(crate) quadrature: Option<At<QuadratureTable>>,
    /// Parameters with other values in the prediction that ends training.
    pub(crate) prediction: Vec<(At<String>, Node)>,
    pub(crate) budget: BudgetTable,
}

/// `inducing` of a solver.
#[derive(Debug, Clone)]
pub(crate) struct InducingTable {
    pub(crate) select: Option<At<String>>,
    pub(crate) points: Option<At<i64>>,
    pub(crate) distance: Option<At<f64>>,
    pub(crate) neighbours: Option<At<i64>>,
}

/// `quadrature` of a solver.
#[derive(Debug, Clone)]
pub(crate) enum QuadratureTable {
    Nodes(i64),
    Random { min: Option<At<i64>>, rate: Option<At<f64>> },
}

/// `[budget]`, with units converted.
#[derive(Debug, Clone, Default)]
pub(crate) struct BudgetTable {
    pub(crate) tolerance: Option<At<f64>>,
    pub(crate) max_epochs: Option<At<f64>>,
    pub(crate) seconds: Option<At<f64>>,
    pub(crate) memory_bytes: Option<At<u64>>,
}

/// `[[exclude]]`: cells that match every key given.
#[derive(Debug, Clone)]
pub(crate) struct Exclude {
    pub(crate) at: Location,
    pub(crate) dataset: Option<Names>,
    pub(crate) kernel: Option<Names>,
    pub(crate) estimator: Option<Names>,
    pub(crate) solver: Option<Names>,
    pub(crate) seed: Option<At<Vec<At<i64>>>>,
}

/// `[report]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReportTable {
    pub(crate) reference: Option<At<String>>,
    pub(crate) baseline: Option<At<String>>,
}

/// Reads the spec at `path` and applies `sets`, each a `key=value` of `--set`.
///
/// # Errors
/// If the file cannot be read, or if it or an override is not TOML. Every other
/// mistake waits for [`Typed::check`], so that all of them are told together.
pub fn load(path: &Path, sets: &[String]) -> Result<Typed, SpecErrors> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| SpecErrors::unreadable(path, format!("cannot read this spec: {error}")))?;
    let mut mistakes = Mistakes::default();
    let mut table = tree::parse(&text, SPEC, &mut mistakes);
    let mut sources = Sources::new(path.to_owned(), text);
    let mut axes_overridden = false;
    for set in sets {
        let key = overrides::apply(&mut table, set, &mut sources, &mut mistakes);
        axes_overridden |= key.is_some_and(|key| matches!(key.as_str(), "matrix" | "seeds" | "exclude"));
    }
    // After a syntax error, what was recovered is a guess; more mistakes would be noise.
    mistakes.clone().into_result(&sources)?;
    let root = read::root(&table, &mut mistakes);
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    Ok(Typed { sources, folder, mistakes, axes_overridden, root, table, is_changed: !sets.is_empty() })
}

impl Typed {
    /// Resolves every name, fills in defaults and takes the product of the axes.
    ///
    /// # Errors
    /// All mistakes of the spec, wrong keys and types among them.
    pub fn check(&self, catalog: &Catalog) -> Result<Checked, SpecErrors> {
        checked::check(self, catalog)
    }

    /// Puts the solvers of `libraries` on the solver axis. An entry that means one of them takes it from its
    /// library; one that no entry means becomes an entry under its id, with default parameters.
    ///
    /// Files are to be absolute: a relative one would be looked for in the spec's folder.
    #[must_use]
    pub fn with_libraries(mut self, libraries: &[LibraryInfo]) -> Typed {
        // What was wrong with the spec is found again when it is read again.
        self.mistakes = Mistakes::default();
        for library in libraries {
            added::apply(&mut self.table, library, &mut self.sources, &mut self.mistakes);
            self.is_changed = true;
        }
        self.root = read::root(&self.table, &mut self.mistakes);
        self
    }

    /// Libraries that the spec names by path: describe them, and put them into
    /// the [`Catalog`] beside the ones found in the usual places.
    pub fn libraries(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for library in self.root.solvers.iter().filter_map(|s| s.library.as_ref()) {
            let file = self.folder.join(&library.value);
            if !files.contains(&file) {
                files.push(file);
            }
        }
        files
    }

    /// The spec's name, if it gives a usable one.
    pub fn name(&self) -> Option<&str> {
        self.root.name.as_ref().map(|name| name.value.as_str())
    }

    /// A text that means this spec: the file's own, or where the command line changed
    /// it one that is written anew, under a line that says so.
    pub fn text(&self) -> String {
        if self.is_changed {
            let toml = tree::to_toml(&self.table);
            format!("# Written with every --set and --library in its place.\n{toml}")
        } else {
            self.sources.text(SPEC).to_owned()
        }
    }
}
