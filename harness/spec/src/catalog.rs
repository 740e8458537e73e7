//! The plugins, the data sets and the earlier run that names in a spec refer to.

use gpbench_record::{LibraryInfo, Row, SolverInfo};

/// The plugins, the data sets and the earlier run that names in a spec are looked up in.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Plugin libraries, those of [`Typed::libraries`](crate::Typed::libraries) among them.
    pub libraries: Vec<LibraryInfo>,
    /// Data sets of the registry, and the built-in toys.
    pub datasets: Vec<KnownDataset>,
    /// The rows of the run that the spec replays ([`Typed::replayed_run`](crate::Typed::replayed_run)), one for each
    /// case, or why they cannot be read.
    pub replayed: Option<Result<Vec<Row>, String>>,
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
