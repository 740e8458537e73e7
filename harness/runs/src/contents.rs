//! The contents that the names of a plan stand for: those of data sets' copies and of plugins' libraries.
//!
//! Cases under one name are averaged, so they must be of one content. The digests of cases and plans
//! ([`gpbench_record::case_digest`]) exclude contents: a computer that runs one shard need not have the data of the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use gpbench_record::PlannedCase;
use serde::{Deserialize, Serialize};

/// What a name of a plan stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameKind {
    /// A data set; its content is that of its binary copy.
    Dataset,
    /// A solver or a learner; its content is that of its plugin's library.
    Solver,
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NameKind::Dataset => "data set",
            NameKind::Solver => "solver",
        })
    }
}

impl NameKind {
    /// The name that a case has of this kind.
    pub(crate) fn name(self, entry: &PlannedCase) -> &str {
        match self {
            NameKind::Dataset => &entry.case.dataset.name,
            NameKind::Solver => &entry.case.solver.name,
        }
    }

    /// SHA-256 of the content that the name stands for; none where there is no file, or where it is not known.
    pub(crate) fn content(self, entry: &PlannedCase) -> Option<&str> {
        let fingerprint = &entry.fingerprint;
        let content = match self {
            NameKind::Dataset => fingerprint.dataset_sha256.as_deref(),
            NameKind::Solver => Some(fingerprint.plugin_sha256.as_str()),
        };
        content.filter(|content| !content.is_empty())
    }
}

/// A name in a merged run whose cases have another content than those of a name from which it differs in nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherContent {
    /// What the names stand for.
    pub kind: NameKind,
    /// The name, which has a number.
    pub name: String,
    /// SHA-256 of its content.
    pub sha256: String,
    /// The name that came first.
    pub beside: String,
    /// SHA-256 of that one's content.
    pub beside_sha256: String,
    /// The runs whose rows have the name.
    #[serde(default)]
    pub runs: Vec<String>,
}

impl OtherContent {
    /// A warning that names both contents.
    pub(crate) fn warning(&self) -> String {
        let Self { kind, name, sha256, beside, beside_sha256, runs } = self;
        let whose = match kind {
            NameKind::Dataset => "of the data",
            NameKind::Solver => "of the plugin's library",
        };
        format!(
            "{kind} `{beside}`: {} had another content {whose} (SHA-256 {} in place of {}); the rows stand apart, as `{name}`",
            runs.join(", "),
            short_sha256(sha256),
            short_sha256(beside_sha256),
        )
    }
}

/// The first digits of a SHA-256.
pub fn short_sha256(sha256: &str) -> &str {
    sha256.get(..12).unwrap_or(sha256)
}

/// The contents that each name stands for.
pub(crate) type Contents<'a> = BTreeMap<(NameKind, &'a str), BTreeSet<&'a str>>;

/// The contents that the names of cases stand for.
pub(crate) fn contents(cases: &[PlannedCase]) -> Contents<'_> {
    let mut contents = Contents::new();
    for entry in cases {
        for kind in [NameKind::Dataset, NameKind::Solver] {
            contents.entry((kind, kind.name(entry))).or_default().extend(kind.content(entry));
        }
    }
    contents
}

/// The contents of a case's names where they are not the case's own.
pub(crate) fn conflicts<'a>(contents: &Contents<'a>, entry: &PlannedCase) -> BTreeSet<&'a str> {
    let conflicting = [NameKind::Dataset, NameKind::Solver].into_iter().filter_map(|kind| {
        let (_, known) = contents.get_key_value(&(kind, kind.name(entry)))?;
        kind.content(entry).filter(|content| !known.contains(content))?;
        Some(known.iter().copied())
    });
    conflicting.flatten().collect()
}

/// A warning for each name whose cases are of several contents, as in runs that an earlier version merged.
pub(crate) fn mixed(cases: &[PlannedCase]) -> Vec<String> {
    let several = contents(cases).into_iter().filter(|(_, contents)| contents.len() > 1);
    several
        .map(|((kind, name), contents)| {
            let what = contents.into_iter().map(short_sha256).collect::<Vec<_>>().join(", ");
            format!(
                "{kind} `{name}`: its rows are of {kind}s with different contents (SHA-256 {what}), and their means mix them; \
                 merge the runs again, which keeps the contents apart"
            )
        })
        .collect()
}
