//! The times of two sides, by solver and problem.

use std::collections::BTreeMap;

use gpbench_statistics::gate::Stratum;

use super::cases::CaseKey;
use super::timed::{Lack, Timed, Times, median};

/// The times of one solver on one problem on two sides.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Its cases, one a seed.
    pub(super) cases: Vec<CaseKey>,
    /// The times of those seeds that have times on both sides.
    pub(super) strata: Vec<Stratum>,
    /// Why the other seeds have none.
    pub(super) lack: Option<Lack>,
}

impl Group {
    /// The groups of the cases that both sides have. Left out are cases that end without an answer, or at a time
    /// limit, on both sides, and groups whose times are the same on both, since those are one measurement.
    pub(super) fn of(new: &Timed, old: &Timed) -> Vec<Group> {
        let mut groups: BTreeMap<CaseKey, Group> = BTreeMap::new();
        for (key, old) in &old.cases {
            let Some(new) = new.cases.get(key).filter(|new| is_measured(old, new)) else { continue };
            let group = groups.entry(key.of_all_seeds()).or_default();
            group.cases.push(key.clone());
            match (old.all(), new.all()) {
                (Some(old), Some(new)) => {
                    group.strata.push(Stratum { old: old.to_vec(), new: new.to_vec() });
                }
                _ => group.lack = group.lack.or(new.lack()).or(old.lack()),
            }
        }
        let is_new = |group: &Group| group.lack.is_some() || group.strata.iter().any(|s| s.old != s.new);
        groups.into_values().filter(is_new).collect()
    }

    /// The groups of one side, whose times have no counterpart.
    pub(super) fn alone(new: &Timed) -> Vec<Group> {
        let mut groups: BTreeMap<CaseKey, Group> = BTreeMap::new();
        for key in new.cases.iter().filter(|(_, times)| times.all().is_some()).map(|(key, _)| key) {
            groups.entry(key.of_all_seeds()).or_default().cases.push(key.clone());
        }
        groups.into_values().collect()
    }

    /// Geometric means over seeds of the medians of repeats: old, new; none where no seed has both.
    pub(super) fn typical(&self) -> Option<(f64, f64)> {
        let mean = |of: fn(&Stratum) -> &[f64]| {
            let logs = self.strata.iter().map(|stratum| median(of(stratum)).ln());
            (logs.sum::<f64>() / self.strata.len() as f64).exp()
        };
        (!self.strata.is_empty()).then(|| (mean(|s| &s.old), mean(|s| &s.new)))
    }

    /// Fewest repeats of a seed, on either side.
    pub(super) fn repeats(&self) -> usize {
        self.strata.iter().map(|s| s.old.len().min(s.new.len())).min().unwrap_or(0)
    }

    /// Fewest repeats of a seed on the new side.
    pub(super) fn new_repeats(&self) -> usize {
        self.strata.iter().map(|s| s.new.len()).min().unwrap_or(0)
    }

    /// Numbers of old and new repeats by seed.
    pub(super) fn shapes(&self) -> Vec<(usize, usize)> {
        self.strata.iter().map(|s| (s.old.len(), s.new.len())).collect()
    }
}

/// Whether a case has times to compare: on one side at least, or there but for the machine that it ran on.
fn is_measured(old: &Times, new: &Times) -> bool {
    let is_measured = |times: &Times| matches!(times.lack(), None | Some(Lack::Incomparable));
    is_measured(old) || is_measured(new)
}
