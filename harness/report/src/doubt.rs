//! Times that are shown and compared with no others.
//!
//! Other jobs on a node, and a job's suspension, make times longer than the solver does. Solvers are compared within blocks
//! (a data set, kernel, estimator and seed), so a block that ran on several kinds of machines compares machines, not solvers.
//! Such times are marked, and ranks, speed-ups and verdicts do without them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use gpbench_record::Row;

use crate::run::Run;
use crate::untimed::{is_timed, without_times};

/// What follows a time that is in doubt.
pub(crate) const MARK: &str = "†";

/// Why the times of a case are compared with no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doubt {
    /// Jobs of others could run on the node at the same time.
    Shared,
    /// The job was suspended.
    Suspended,
    /// Cases that it would be compared with ran on another kind of machine.
    Divided,
}

impl Doubt {
    /// What the row itself says of its times.
    pub(crate) fn of(row: &Row) -> Option<Doubt> {
        let place = row.place.as_ref()?;
        let suspended = (place.suspended_seconds > 0.0).then_some(Doubt::Suspended);
        suspended.or(place.shared.then_some(Doubt::Shared))
    }

    fn reason(self) -> &'static str {
        match self {
            Doubt::Shared => "other jobs could run on the node",
            Doubt::Suspended => "the job was suspended",
            Doubt::Divided => "cases of the same seed ran on another kind of machine",
        }
    }
}

impl Run {
    /// The run without the times of blocks in which any is in doubt, so that all solvers have times of the same seeds; the run
    /// itself where there is no such block.
    pub(crate) fn with_comparable_times(&self) -> Cow<'_, Run> {
        let doubts = self.doubts();
        if doubts.is_empty() {
            return Cow::Borrowed(self);
        }
        let is_in_doubt = |row: &&Row| doubts.contains_key(row.id.as_str());
        let left_out: BTreeSet<Block<'_>> =
            self.rows.iter().filter(is_in_doubt).map(|row| self.block(row)).collect();
        let kept =
            |row: &Row| if left_out.contains(&self.block(row)) { without_times(row) } else { row.clone() };
        Cow::Owned(Run { rows: self.rows.iter().map(kept).collect(), ..self.clone() })
    }

    /// How many cases have times in doubt, and why; nothing where none has.
    pub(crate) fn times_in_doubt(&self) -> Option<String> {
        let doubts = self.doubts();
        let mut counts: BTreeMap<Doubt, usize> = BTreeMap::new();
        doubts.values().for_each(|doubt| *counts.entry(*doubt).or_default() += 1);
        let reasons: Vec<String> =
            counts.iter().map(|(doubt, count)| format!("{} ({count})", doubt.reason())).collect();
        (!reasons.is_empty()).then(|| {
            format!(
                "the times of {} of {} cases have no part in ranks, speed-ups and verdicts: {}",
                doubts.len(),
                self.rows.len(),
                reasons.join(", ")
            )
        })
    }

    /// The cases whose times are in doubt, by their ids.
    pub(crate) fn doubts(&self) -> HashMap<&str, Doubt> {
        let divided = self.divided_blocks();
        let timed = self.rows.iter().filter(|row| is_timed(row));
        let doubt = |row: &Row| {
            Doubt::of(row).or_else(|| divided.contains(&self.block(row)).then_some(Doubt::Divided))
        };
        timed.filter_map(|row| Some((row.id.as_str(), doubt(row)?))).collect()
    }

    /// The blocks with answers from several kinds of machines.
    fn divided_blocks(&self) -> BTreeSet<Block<'_>> {
        let mut kinds: BTreeMap<Block<'_>, BTreeSet<Option<&str>>> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.status.is_answer()) {
            kinds.entry(self.block(row)).or_default().insert(row.environment.as_deref());
        }
        kinds.into_iter().filter(|(_, kinds)| kinds.len() > 1).map(|(block, _)| block).collect()
    }

    fn block<'r>(&'r self, row: &'r Row) -> Block<'r> {
        (self.plans.get(&row.id).map(String::as_str), row.labels.block())
    }
}

/// A block of a plan.
type Block<'r> = (Option<&'r str>, (&'r str, &'r str, Option<&'r str>, u64));
