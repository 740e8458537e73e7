//! Means over seeds of each method on each data set: one for each run and machine, which are never mixed.

use std::collections::BTreeMap;

use gpbench_record::{TaskKind, names};

use super::archive::{Archive, Key};
use super::facets::Facets;
use crate::aggregate::{Group, groups_of};
use crate::error::Result;
use crate::frame::{CaseView, Cases, Frame};
use crate::grid;
use crate::pairs::by_seed;

/// The cases of a method on a problem and data set, in one run on one kind of machine.
pub(super) struct Measured {
    pub(super) key: Key,
    pub(super) task: TaskKind,
    /// Whether its cases had a residual to reach, so that their seconds can be compared.
    pub(super) has_goal: bool,
    pub(super) group: Group,
    /// Seconds by seed.
    pub(super) seconds: BTreeMap<u64, f64>,
    pub(super) facets: Facets,
}

/// All groups of an archive; of each grid of a learner, the chosen points.
///
/// # Errors
/// If a table cannot be built.
pub(super) fn measured(archive: &Archive) -> Result<Vec<Measured>> {
    let frame = Frame::new(&archive.pooled)?;
    let cases = grid::chosen(&Cases::of(&frame));
    let of_group = |group: Group| {
        let places: Vec<usize> = group.cases(&cases).map(|case: CaseView<'_>| case.place()).collect();
        let key = archive.cases[places[0]].key;
        let (task, first) = (archive.task(key), &archive.rows()[places[0]]);
        let solves = [TaskKind::Solve, TaskKind::Posterior, TaskKind::Train].contains(&task);
        let has_goal = solves && first.case.budget.tolerance.is_some();
        let seconds = by_seed(group.cases(&cases), names::SECONDS);
        Measured { key, task, has_goal, facets: Facets::of(archive, places), group, seconds }
    };
    Ok(groups_of(&cases).into_iter().map(of_group).collect())
}
