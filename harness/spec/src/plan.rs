//! The third stage: the cases in the order in which they run.
//!
//! Repeats are interleaved: every case runs once before any runs again. Within a
//! round the order is a shuffle keyed by the spec's order seed and the case's own
//! names, so that leaving a case out does not move the others.

use std::collections::BTreeMap;

use gpbench_record::{Axes, Case, ReportOptions, TaskKind, matches, selects};
use sha2::{Digest, Sha256};

use crate::checked::Checked;
use crate::nearest;
use crate::spec_case::{SpecCase, solver_noun};

/// The cases of a spec in the order in which they run, and what a report needs of the spec.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecPlan {
    /// The spec's name.
    pub name: String,
    /// The task of every case.
    pub task: TaskKind,
    /// Threads of the whole run, where the spec says.
    pub threads: Option<usize>,
    /// Seed of the order.
    pub order_seed: u64,
    /// The names on each axis, in the order of the spec.
    pub axes: Axes,
    /// Options of the report.
    pub report: ReportOptions,
    /// The paper or book that a solver comes from, by the solver's id, where its plugin names one.
    pub sources: BTreeMap<String, String>,
    /// The cases.
    pub cases: Vec<SpecCase>,
}

/// A name in a filter that matches no case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownName {
    /// No case of the plan has the name.
    #[error("no {axis} `{name}` in this plan{}", .hint.as_ref().map(|h| format!("; {h}")).unwrap_or_default())]
    Name {
        /// `solver`, `learner` or `data set`.
        axis: &'static str,
        /// The name.
        name: String,
        /// The nearest name of the plan, or all names.
        hint: Option<String>,
    },
    /// Each name has a case, but no case has all of them.
    #[error("no case of this plan has such a {0} on such a data set")]
    Empty(&'static str),
}

impl Checked {
    /// The cases in the order in which they run.
    pub fn plan(&self) -> SpecPlan {
        let mut cases = Vec::with_capacity(self.cases.len() * self.repeats as usize);
        for repeat in 0..self.repeats {
            let mut round: Vec<SpecCase> = self.cases.iter().map(|case| case.repeated(repeat)).collect();
            round.sort_by_cached_key(|p| shuffle_key(self.order_seed, &p.case));
            cases.extend(round);
        }
        SpecPlan {
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

impl SpecPlan {
    /// `solver` or `learner`, by task: what the solver axis lists.
    pub fn noun(&self) -> &'static str {
        solver_noun(self.task)
    }

    /// The cases whose solver and data set are among the names and patterns given; none select all. The name of a grid
    /// selects all of its points.
    ///
    /// # Errors
    /// If a name is not in the plan, or a pattern fits none, or if nothing is left.
    pub fn filter(&self, solvers: &[String], datasets: &[String]) -> Result<SpecPlan, UnknownName> {
        check_names(self.noun(), solvers, self.cases.iter().flat_map(SpecCase::solver_names))?;
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
