//! A case of a spec, before data sets and programs are known.

use std::path::PathBuf;

use gpbench_record::{Capability, Case, TaskKind};

use crate::own_files::OwnFiles;

/// A case of a spec, and the library and the file that it names.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecCase {
    /// The case.
    pub case: Case,
    /// Library that offers the solver or learner.
    pub plugin_file: PathBuf,
    /// SHA-256 of that library.
    pub plugin_sha256: String,
    /// About how many bytes that library takes before it has a problem.
    pub import_bytes: f64,
    /// Capabilities of the solver or learner.
    pub capabilities: Vec<Capability>,
    /// The user's own files, for a data set given by path.
    pub own_files: Option<OwnFiles>,
    /// Training rows, where known.
    pub n: Option<usize>,
    /// Inputs, where known.
    pub d: Option<usize>,
}

impl SpecCase {
    /// The case as the repeat of this number, from 0.
    pub(crate) fn repeated(&self, repeat: u32) -> Self {
        let mut case = self.clone();
        case.case.repeat = repeat;
        case
    }

    /// The names that select the case's solver: its own, and that of its grid.
    pub(crate) fn solver_names(&self) -> impl Iterator<Item = &str> {
        let grid = self.case.grid().map(|point| point.entry.as_str());
        std::iter::once(self.case.solver.name.as_str()).chain(grid)
    }
}

/// `solver` or `learner`, by task.
pub(crate) fn solver_noun(task: TaskKind) -> &'static str {
    if task == TaskKind::Learn { "learner" } else { "solver" }
}
