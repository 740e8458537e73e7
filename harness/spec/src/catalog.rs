//! The plugins, the data sets and the earlier runs that names in a spec refer to.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use gpbench_record::{Dataset, LibraryInfo, Row, SolverInfo};

use crate::named_library::UnusableLibrary;

/// The plugins, the data sets and the earlier runs that names in a spec are looked up in.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Plugin libraries, those of [`Typed::libraries`](crate::Typed::libraries) among them.
    pub libraries: Vec<LibraryInfo>,
    /// Libraries that the spec names and that cannot be used here.
    pub unusable: Vec<UnusableLibrary>,
    /// Data sets of the registry, and the built-in toys.
    pub datasets: Vec<KnownDataset>,
    /// The sizes of data sets that were read from files ([`Typed::files`](crate::Typed::files)), by their names on the axis,
    /// or why they cannot be read. The size of one that is absent is unknown.
    pub sizes: BTreeMap<String, Result<DatasetSize, String>>,
    /// Finds splits of the files' data sets that cannot be learned from.
    pub splits: SplitCheck,
    /// Why archived results that the spec names ([`Typed::archives`](crate::Typed::archives)) cannot be read, by
    /// their paths as typed.
    pub unreadable_archives: BTreeMap<String, String>,
    /// The rows of the run that the spec replays ([`Typed::replayed_run`](crate::Typed::replayed_run)), one for each
    /// case, or why they cannot be read.
    pub replayed: Option<Result<Vec<Row>, String>>,
}

/// What a split's rows are checked by, where files were read: it returns the number of training rows before a subsample is
/// taken, or why nothing can be learned from the split; nothing where its file was not read.
#[derive(Clone, Default)]
pub struct SplitCheck(Option<Rc<Look>>);

type Look = dyn Fn(&Dataset) -> Option<Result<usize, String>>;

impl SplitCheck {
    /// Checks splits by this function.
    pub fn new(look: impl Fn(&Dataset) -> Option<Result<usize, String>> + 'static) -> SplitCheck {
        SplitCheck(Some(Rc::new(look)))
    }

    /// Training rows of a case before a subsample is taken, or why nothing can be learned from them.
    pub(crate) fn training_rows(&self, dataset: &Dataset) -> Option<Result<usize, String>> {
        self.0.as_ref().and_then(|look| look(dataset))
    }
}

impl fmt::Debug for SplitCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SplitCheck({})", if self.0.is_some() { "files" } else { "nothing" })
    }
}

/// A data set that a spec may name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownDataset {
    /// Canonical name.
    pub name: String,
    /// Its other names.
    pub aliases: Vec<String>,
    /// Rows before splitting; for a toy, the default number of training rows.
    pub n: Option<usize>,
    /// Inputs.
    pub d: Option<usize>,
    /// Whether it is a built-in toy, drawn with the case's seed.
    pub toy: bool,
    /// Number of train/test splits that come with it; `None` where any split can be drawn.
    pub splits: Option<u32>,
}

/// Training rows of the splits of a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrainingRows {
    /// Of each split that comes with the set.
    Masked(Vec<usize>),
    /// Of any split that is drawn.
    Drawn(usize),
}

/// The size of a data set that was read from files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetSize {
    /// Rows in all.
    pub rows: usize,
    /// Inputs; each value of a categorical column is one.
    pub inputs: usize,
    /// Training rows of its splits.
    pub training: TrainingRows,
    /// Groups of its rows; 0 without a column of groups.
    pub groups: usize,
    /// Whether some rows share their inputs.
    pub has_replicates: bool,
}

impl TrainingRows {
    /// Training rows of a split, if there is one of this number.
    pub(crate) fn of(&self, split: u32) -> Option<usize> {
        match self {
            TrainingRows::Masked(rows) => rows.get(split as usize).copied(),
            TrainingRows::Drawn(rows) => Some(*rows),
        }
    }
}

impl Catalog {
    /// The data set of that name or alias.
    pub fn dataset(&self, name: &str) -> Option<&KnownDataset> {
        let called = |d: &&KnownDataset| d.name == name || d.aliases.iter().any(|a| a == name);
        self.datasets.iter().find(called)
    }

    /// Every solver with the library that offers it. A library present twice
    /// under the same content counts once.
    pub(crate) fn solvers(&self) -> impl Iterator<Item = (&LibraryInfo, &SolverInfo)> {
        let first = |k: usize, l: &LibraryInfo| !self.libraries[..k].iter().any(|o| o.sha256 == l.sha256);
        let distinct = self.libraries.iter().enumerate().filter(move |(k, l)| first(*k, l));
        distinct.flat_map(|(_, l)| l.solvers.iter().map(move |s| (l, s)))
    }
}
