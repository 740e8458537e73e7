//! Cases of plans that the runs lack.

use std::collections::{BTreeSet, HashMap};

use gpbench_record::{PlannedCase, Shard};

use super::source::Source;
use crate::contents::{conflicts, contents};

/// A case of a plan that no run lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unlisted<'a> {
    /// Its digest.
    pub(super) digest: &'a str,
    /// The contents for which it is lacking, where runs list it with others.
    contents: BTreeSet<&'a str>,
}

/// The cases of all plans that no run lists, each once: several plans may have the same case. A run with other contents does
/// not list a case of this one: its row would stand under another name.
pub(super) fn unlisted(sources: &[Source]) -> BTreeSet<Unlisted<'_>> {
    let mut listed: HashMap<String, Vec<&PlannedCase>> = HashMap::new();
    for entry in sources.iter().flat_map(|source| &source.plan.cases) {
        listed.entry(entry.digest()).or_default().push(entry);
    }
    let mut unlisted = BTreeSet::new();
    for source in sources {
        let Some(part) = &source.plan.part else { continue };
        let (own, known) = (ids(source), contents(&source.plan.cases));
        for digest in &part.others {
            let entries = listed.get(digest).map(Vec::as_slice).unwrap_or_default();
            let others = entries.iter().filter(|entry| !own.contains(entry.id.as_str()));
            let conflicts: Vec<BTreeSet<&str>> = others.map(|entry| conflicts(&known, entry)).collect();
            if conflicts.iter().all(|conflicts| !conflicts.is_empty()) {
                unlisted.insert(Unlisted { digest, contents: conflicts.into_iter().flatten().collect() });
            }
        }
    }
    unlisted
}

/// The ids of a run's cases.
fn ids(source: &Source) -> BTreeSet<&str> {
    source.plan.ids().collect()
}

/// The shards of a plan that are not among the runs, where cases of it are not. Of shards of several counts, none can be named.
pub(super) fn absent(plan: &str, sources: &[Source]) -> Vec<Shard> {
    let runs = sources.iter().flat_map(Source::origins).filter(|run| run.plan == plan);
    let present: BTreeSet<Shard> = runs.filter_map(|run| run.shard).collect();
    let counts: BTreeSet<usize> = present.iter().map(|shard| shard.count).collect();
    let unlisted = unlisted(sources);
    let unlisted: BTreeSet<&str> = unlisted.iter().map(|other| other.digest).collect();
    let parts = sources.iter().filter_map(|source| source.plan.part.as_ref());
    let mut others = parts.filter(|part| part.plan == plan).flat_map(|part| &part.others);
    if counts.len() != 1 || !others.any(|other| unlisted.contains(other.as_str())) {
        return Vec::new();
    }
    let all = counts.into_iter().flat_map(|count| (1..=count).map(move |number| Shard { number, count }));
    all.filter(|shard| !present.contains(shard)).collect()
}
