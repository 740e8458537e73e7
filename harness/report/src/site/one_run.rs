//! One run of each method on each data set, where several runs have the same cases.
//!
//! Whoever adds a run to an archive would like to see their own numbers in its ranking. So a run that is added never
//! takes the place of an earlier one unless somebody has verified it and not the other, and the ranking names the
//! runs that it leaves out. Rows of two runs never have a common mean.

use std::collections::{BTreeMap, BTreeSet};

use super::archive::Archive;

/// Cases of one run for each method and data set.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OneRunEach {
    /// Places of the cases in the archive, increasing.
    pub(super) cases: Vec<usize>,
    /// Other runs with results of these methods on these data sets, as places of method and run.
    pub(super) others: BTreeSet<(usize, usize)>,
}

impl OneRunEach {
    /// Chooses among some cases, given by their places in the archive.
    pub(super) fn of(archive: &Archive, cases: &[usize]) -> OneRunEach {
        let mut pools: BTreeMap<(usize, usize), BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
        for &at in cases {
            let key = archive.cases[at].key;
            pools.entry((key.method, key.dataset)).or_default().entry(key.run).or_default().push(at);
        }
        let mut chosen = OneRunEach::default();
        for ((method, _), mut runs) in pools {
            let first = runs.iter().min_by_key(|(run, own)| precedence(archive, **run, own));
            let Some(own) = first.map(|(run, _)| *run).and_then(|run| runs.remove(&run)) else { continue };
            let known: BTreeSet<(&str, &str)> = own.iter().map(|at| row(archive, *at)).collect();
            // A run that re-uses the rows of another has nothing else to show.
            let differs = |cases: &[usize]| cases.iter().any(|at| !known.contains(&row(archive, *at)));
            let others = runs.iter().filter(|(_, cases)| differs(cases));
            chosen.others.extend(others.map(|(run, _)| (method, *run)));
            chosen.cases.extend(own);
        }
        chosen.cases.sort_unstable();
        chosen
    }
}

/// What tells rows of one method on one data set apart: the id of the case, and when it ended.
fn row(archive: &Archive, at: usize) -> (&str, &str) {
    let row = &archive.rows()[at];
    (&row.id, &row.finished)
}

/// The place of a run among those with the same cases, the smallest one first: by its verdict, then by when the first
/// of its cases ended, as far as it states a time, then by its place in the archive.
fn precedence<'a>(archive: &'a Archive, run: usize, cases: &[usize]) -> (u8, bool, &'a str, usize) {
    let finished = cases.iter().map(|at| archive.rows()[*at].finished.as_str()).min().unwrap_or_default();
    let has_time = finished.starts_with(|first: char| first.is_ascii_digit());
    (archive.runs[run].verification.precedence(), !has_time, finished, run)
}
