//! Which solutions are kept for others to verify.

use std::collections::HashSet;

use gpbench_record::PlannedCase;

/// The ids of the cases of a plan whose solutions are kept: at most `count` of those that run.
///
/// An id is a hash of all that its case depends on, so that the smallest ones are a random choice that nobody makes,
/// and the same whenever a run continues.
pub fn kept_sample(cases: &[PlannedCase], count: usize) -> HashSet<String> {
    let run = cases.iter().filter(|entry| entry.skip.is_none());
    let mut ids: Vec<&String> = run.map(|entry| &entry.id).collect();
    ids.sort_unstable();
    ids.into_iter().take(count).cloned().collect()
}
