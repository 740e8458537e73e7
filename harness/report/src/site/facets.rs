//! By what a page filters a row of a table or a case of a chart.

use std::collections::BTreeSet;

use gpbench_record::Row;

use super::archive::{Archive, Key};

/// What some cases are of: places in the lists of data sets, methods, machines and threads, and their days.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facets {
    pub(super) datasets: BTreeSet<usize>,
    pub(super) methods: BTreeSet<usize>,
    pub(super) machines: BTreeSet<usize>,
    pub(super) threads: BTreeSet<usize>,
    days: BTreeSet<String>,
}

impl Facets {
    /// The facets of some cases, by their places in the archive.
    pub(super) fn of(archive: &Archive, cases: impl IntoIterator<Item = usize>) -> Facets {
        let mut facets = Facets::default();
        for at in cases {
            facets.add(archive, archive.cases[at].key, &archive.rows()[at]);
        }
        facets
    }

    fn add(&mut self, archive: &Archive, key: Key, row: &Row) {
        self.datasets.insert(key.dataset);
        self.methods.insert(key.method);
        self.machines.insert(key.machine);
        let threads = archive.machines.at(key.machine).threads;
        let threads = threads.and_then(|count| archive.machines.threads().iter().position(|of| *of == count));
        self.threads.extend(threads);
        self.days.extend(day(row));
    }

    /// The form that scripts read: `0,1;2;0;1;2026-01-01/2026-01-02`, or one day alone.
    pub(super) fn text(&self) -> String {
        let list = |places: &BTreeSet<usize>| {
            let places: Vec<String> = places.iter().map(usize::to_string).collect();
            places.join(",")
        };
        let lists = [&self.datasets, &self.methods, &self.machines, &self.threads].map(list);
        let (first, last) = (self.first_day(), self.last_day());
        let days = if first == last { first.to_owned() } else { format!("{first}/{last}") };
        format!("{};{days}", lists.join(";"))
    }

    /// The day on which the first of the cases ended; empty where none is known.
    pub(super) fn first_day(&self) -> &str {
        self.days.first().map_or("", String::as_str)
    }

    /// The day on which the last of the cases ended.
    pub(super) fn last_day(&self) -> &str {
        self.days.last().map_or("", String::as_str)
    }
}

/// The day on which a case ended, in UTC.
pub(super) fn day(row: &Row) -> Option<String> {
    let day = row.finished.get(..10)?;
    day.chars().all(|c| c.is_ascii_digit() || c == '-').then(|| day.to_owned())
}
