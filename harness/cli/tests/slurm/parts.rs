//! The part files of a run: how far each attempt is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use super::cluster::lines;
use crate::support::Sandbox;

/// Where an attempt is when a fault happens to it. Displayed as in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instant {
    BeforeStart,
    BetweenCases,
    DuringCase,
    AfterLast,
}

impl Instant {
    pub const ALL: [Instant; 4] =
        [Instant::BeforeStart, Instant::DuringCase, Instant::BetweenCases, Instant::AfterLast];

    pub fn name(self) -> &'static str {
        match self {
            Instant::BeforeStart => "before the start",
            Instant::BetweenCases => "between cases",
            Instant::DuringCase => "during a case",
            Instant::AfterLast => "after the last case",
        }
    }
}

/// The lines of all part files of the newest run, by attempt.
pub struct Parts(BTreeMap<String, Vec<Value>>);

impl Parts {
    pub fn read(sandbox: &Sandbox) -> Parts {
        let folder = sandbox.path("reports/slurm/latest/cluster/parts");
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let parts = files.filter_map(|file| {
            let attempt = file.path().file_stem()?.to_str()?.to_owned();
            Some((attempt, lines(&file.path())))
        });
        Parts(parts.collect())
    }

    /// The number of attempts that were sent.
    pub fn attempts(&self) -> usize {
        self.0.len()
    }

    /// How many cases have started.
    pub fn started(&self) -> usize {
        self.of_kind("started").count()
    }

    /// How many rows came a second time.
    pub fn duplicates(&self) -> usize {
        let rows: Vec<&Value> = self.of_kind("case").map(|line| &line["id"]).collect();
        rows.len() - rows.iter().map(|id| id.as_str()).collect::<BTreeSet<_>>().len()
    }

    /// Where an attempt is. One that has no file has not started.
    pub fn instant(&self, attempt: &str) -> Instant {
        let mut told = self.0.get(attempt).into_iter().flatten().filter_map(|line| line["kind"].as_str());
        match told.rfind(|kind| *kind != "beat") {
            None | Some("assigned") => Instant::BeforeStart,
            Some("started") => Instant::DuringCase,
            Some("ended") => Instant::AfterLast,
            Some(_) => Instant::BetweenCases,
        }
    }

    /// The last line of a kind of each attempt.
    pub fn last(&self, kind: &str) -> BTreeMap<&str, &Value> {
        let last = |lines: &'_ Vec<Value>| lines.iter().rposition(|line| line["kind"] == kind);
        let found = self.0.iter().filter_map(|(attempt, lines)| Some((&**attempt, &lines[last(lines)?])));
        found.collect()
    }

    fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.0.values().flatten().filter(move |line| line["kind"] == kind)
    }
}
