//! The third stage: the cases in the order in which they run.
//!
//! Repeats are interleaved: every case runs once before any runs again. Within a
//! round the order is a shuffle keyed by the spec's order seed and the case's own
//! names, so that leaving a case out does not move the others.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gpbench_record::{
    Axes, Capability, Case, Dataset, Fractions, ReportOptions, Subsample, TaskKind, matches, selects,
};
use sha2::{Digest, Sha256};

use crate::checked::Checked;
use crate::nearest;
use crate::points::too_many_points;
use crate::product::Cell;

/// The cases of a spec in the order in which they run, and what a report needs of the spec.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The spec's name.
    pub name: String,
    /// What every case measures.
    pub task: TaskKind,
    /// Threads of the whole run, where the spec says.
    pub threads: Option<usize>,
    /// Key of the order.
    pub order_seed: u64,
    /// The names on each axis, in the order of the spec.
    pub axes: Axes,
    /// What the report shows.
    pub report: ReportOptions,
    /// The paper or book that a solver comes from, by the solver's id, where its plugin names one.
    pub sources: BTreeMap<String, String>,
    /// The cases.
    pub cases: Vec<PlannedCase>,
}

/// A case and what it takes to run it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCase {
    /// The case.
    pub case: Case,
    /// Library that offers the solver.
    pub plugin_file: PathBuf,
    /// SHA-256 of that library.
    pub plugin_sha256: String,
    /// What the solver or learner can do.
    pub capabilities: Vec<Capability>,
    /// The user's own CSV or Parquet file, for a data set given by path.
    pub dataset_path: Option<PathBuf>,
    /// Training rows, where known.
    pub n: Option<usize>,
    /// Inputs, where known.
    pub d: Option<usize>,
}

impl PlannedCase {
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
        let entry = solver_names(&self.case).last()?;
        Some(format!("{} `{entry}`: {what}; {hint}", self.noun()))
    }

    fn noun(&self) -> &'static str {
        noun(self.case.task.kind())
    }
}

/// What stands on the solver axis.
fn noun(task: TaskKind) -> &'static str {
    if task == TaskKind::Learn { "learner" } else { "solver" }
}

/// A filter that selects nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownName {
    /// A name that no case of the plan bears.
    #[error("no {axis} `{name}` in this plan{}", .hint.as_ref().map(|h| format!("; {h}")).unwrap_or_default())]
    Name {
        /// `solver`, `learner` or `data set`.
        axis: &'static str,
        /// The name.
        name: String,
        /// The nearest right name, or all there are.
        hint: Option<String>,
    },
    /// Names that exist, but never in one case.
    #[error("no case of this plan has such a {0} on such a data set")]
    Empty(&'static str),
}

impl Checked {
    /// The cases in the order in which they run.
    pub fn plan(&self) -> Plan {
        let mut cases = Vec::with_capacity(self.cells.len() * self.repeats as usize);
        for repeat in 0..self.repeats {
            let mut round: Vec<PlannedCase> = self.cells.iter().map(|cell| planned(cell, repeat)).collect();
            round.sort_by_cached_key(|p| shuffle_key(self.order_seed, &p.case));
            cases.extend(round);
        }
        Plan {
            name: self.name.clone(),
            task: self.task,
            threads: self.threads,
            order_seed: self.order_seed,
            axes: self.axes.clone(),
            report: self.report.clone(),
            sources: self.sources.clone(),
            cases,
        }
    }
}

impl Plan {
    /// What stands on the solver axis.
    pub fn noun(&self) -> &'static str {
        noun(self.task)
    }

    /// The cases whose solver and data set are among the names and patterns given; none select all. The name of a grid
    /// selects all of its points.
    ///
    /// # Errors
    /// If a name is not in the plan, or a pattern fits none, or if nothing is left.
    pub fn filter(&self, solvers: &[String], datasets: &[String]) -> Result<Plan, UnknownName> {
        check_names(self.noun(), solvers, self.cases.iter().flat_map(|p| solver_names(&p.case)))?;
        check_names("data set", datasets, self.cases.iter().map(|p| p.case.dataset.name.as_str()))?;
        let chosen =
            |names: &[String], name: &str| names.is_empty() || names.iter().any(|typed| matches(typed, name));
        let mut plan = self.clone();
        let is_solver =
            |case: &Case| solvers.is_empty() || solvers.iter().any(|name| selects(name, &case.solver.name));
        plan.cases.retain(|p| is_solver(&p.case) && chosen(datasets, &p.case.dataset.name));
        if plan.cases.is_empty() { Err(UnknownName::Empty(self.noun())) } else { Ok(plan) }
    }
}

/// The names that select a case's solver: its own, and that of its grid.
fn solver_names(case: &Case) -> impl Iterator<Item = &str> {
    std::iter::once(case.solver.name.as_str()).chain(case.grid().map(|point| point.entry.as_str()))
}

fn planned(cell: &Cell, repeat: u32) -> PlannedCase {
    PlannedCase {
        case: Case { repeat, ..cell.case.clone() },
        plugin_file: cell.plugin_file.clone(),
        plugin_sha256: cell.plugin_sha256.clone(),
        capabilities: cell.capabilities.clone(),
        dataset_path: cell.dataset_path.clone(),
        n: cell.n,
        d: cell.d,
    }
}

/// Sorting by a hash is a shuffle that needs no generator and is the same everywhere.
fn shuffle_key(order_seed: u64, case: &Case) -> [u8; 32] {
    Sha256::digest(format!("{order_seed}/{}/{}", case.labels(), case.repeat)).into()
}

fn check_names<'a>(
    axis: &'static str,
    names: &[String],
    known: impl Iterator<Item = &'a str>,
) -> Result<(), UnknownName> {
    let mut distinct: Vec<&str> = known.collect();
    distinct.sort_unstable();
    distinct.dedup();
    match names.iter().find(|name| !distinct.iter().any(|known| matches(name, known))) {
        Some(name) => Err(UnknownName::Name {
            axis,
            name: name.clone(),
            hint: nearest::hint(name, distinct.iter().copied()),
        }),
        None => Ok(()),
    }
}
