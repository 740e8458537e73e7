//! A case of a spec, before data sets and programs are known.

use std::path::PathBuf;

use gpbench_record::{Capability, Case, Dataset, Fractions, Subsample, TaskKind};

use crate::points::too_many_points;

/// A case of a spec, and the library and the file that it names.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecCase {
    /// The case.
    pub case: Case,
    /// Library that offers the solver or learner.
    pub plugin_file: PathBuf,
    /// SHA-256 of that library.
    pub plugin_sha256: String,
    /// Capabilities of the solver or learner.
    pub capabilities: Vec<Capability>,
    /// The user's own CSV or Parquet file, for a data set given by path.
    pub dataset_path: Option<PathBuf>,
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

    /// Takes the sizes of a file where the spec does not tell them: rows in all, those that are not held out for testing
    /// where the spec gives no fractions, and inputs.
    pub fn take_sizes(&mut self, rows: usize, training: usize, d: usize) {
        let Dataset { fractions, subsample, validation, .. } = &self.case.dataset;
        let share = |share: f64| Subsample::Fraction(share).rows(rows);
        let left = match fractions {
            Some(Fractions { train, .. }) => share(*train),
            None => training.saturating_sub(validation.map_or(0, share)),
        };
        let n = subsample.map_or(left, |subsample| subsample.rows(left));
        self.n = self.n.or(Some(n));
        self.d = self.d.or(Some(d));
    }

    /// Why the case cannot be run on as many training rows as it has, and what to do.
    pub fn refusal(&self) -> Option<String> {
        let (what, hint) = too_many_points(self.case.task.inducing()?, &self.case.dataset.name, self.n?)?;
        // Of a grid, its entry: all of its points have the same.
        let entry = self.solver_names().last()?;
        Some(format!("{} `{entry}`: {what}; {hint}", solver_noun(self.case.task.kind())))
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
