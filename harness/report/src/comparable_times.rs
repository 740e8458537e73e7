//! Times that may be compared.
//!
//! Other jobs on a node, and a job's suspension, make times longer than the solver does. Solvers are compared within blocks
//! (a data set, kernel, estimator and seed), so a block that ran on several kinds of machines compares machines, not solvers.
//! Such times are shown with a mark, and ranks, speed-ups and verdicts do without them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gpbench_record::Row;

use crate::frame::{CaseView, Cases};

/// Follows a time that is not comparable.
pub(crate) const MARK: &str = "†";

/// Why the times of a case are not comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Incomparable {
    /// Jobs of others could run on the node at the same time.
    Shared,
    /// The job was suspended.
    Suspended,
    /// Cases that it would be compared with ran on another kind of machine.
    Divided,
}

impl Incomparable {
    /// The reason that a row itself has.
    pub(crate) fn of(row: &Row) -> Option<Incomparable> {
        let place = row.place.as_ref()?;
        let suspended = (place.suspended_seconds > 0.0).then_some(Incomparable::Suspended);
        suspended.or(place.shared.then_some(Incomparable::Shared))
    }

    fn words(self) -> &'static str {
        match self {
            Incomparable::Shared => "other jobs could run on the node",
            Incomparable::Suspended => "the job was suspended",
            Incomparable::Divided => "cases of the same seed ran on another kind of machine",
        }
    }
}

impl<'f> Cases<'f> {
    /// The cases with comparable times alone: a block in which any time is not comparable has none, so that all solvers have
    /// times of the same seeds.
    pub(crate) fn with_comparable_times(&self) -> Cases<'f> {
        let incomparable = self.incomparable_times();
        let is_incomparable = |case: &CaseView<'f>| incomparable.contains_key(case.id());
        let left_out: BTreeSet<Block<'_>> = self.iter().filter(is_incomparable).map(block).collect();
        self.with(|case| Some(if left_out.contains(&block(*case)) { case.without_times() } else { *case }))
    }

    /// A remark on the number of cases whose times are not comparable, with reasons; none where all are.
    pub(crate) fn remark_on_incomparable_times(&self) -> Option<String> {
        let incomparable = self.incomparable_times();
        let mut counts: BTreeMap<Incomparable, usize> = BTreeMap::new();
        incomparable.values().for_each(|reason| *counts.entry(*reason).or_default() += 1);
        let reasons: Vec<String> =
            counts.iter().map(|(reason, count)| format!("{} ({count})", reason.words())).collect();
        (!reasons.is_empty()).then(|| {
            format!(
                "the times of {} of {} cases have no part in ranks, speed-ups and verdicts: {}",
                incomparable.len(),
                self.len(),
                reasons.join(", ")
            )
        })
    }

    /// The cases whose times are not comparable, by their ids.
    pub(crate) fn incomparable_times(&self) -> HashMap<&'f str, Incomparable> {
        let divided = self.divided_blocks();
        let reason = |case: CaseView<'f>| {
            let is_divided = || divided.contains(&block(case)).then_some(Incomparable::Divided);
            Incomparable::of(case.row()).or_else(is_divided)
        };
        let timed = self.iter().filter(CaseView::is_timed);
        timed.filter_map(|case| Some((case.id(), reason(case)?))).collect()
    }

    /// The blocks with answers from several kinds of machines.
    fn divided_blocks(&self) -> BTreeSet<Block<'f>> {
        let mut kinds: BTreeMap<Block<'_>, BTreeSet<Option<&str>>> = BTreeMap::new();
        for case in self.iter().filter(CaseView::is_answer) {
            kinds.entry(block(case)).or_default().insert(case.environment());
        }
        kinds.into_iter().filter(|(_, kinds)| kinds.len() > 1).map(|(block, _)| block).collect()
    }
}

/// A block of a plan.
type Block<'f> = (Option<&'f str>, (&'f str, &'f str, Option<&'f str>, u64));

fn block(case: CaseView<'_>) -> Block<'_> {
    (case.plan(), case.row().labels.block())
}
