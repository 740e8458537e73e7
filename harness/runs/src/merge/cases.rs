//! The cases of several runs, each once.

use std::collections::{BTreeSet, HashMap};

use gpbench_record::{Labels, PlannedCase, Row};

use super::meaning::Specified;
use super::names::NewNames;
use super::source::Source;
use crate::contents::NameKind;

/// A planned case, and the row that counts.
pub(super) struct MergedCase<'s> {
    /// The case as the merged plan lists it.
    pub(super) entry: PlannedCase,
    /// Its row, where a run has one.
    pub(super) row: Option<Row>,
    /// The run that entry and row are of.
    pub(super) source: &'s Source,
}

impl<'s> MergedCase<'s> {
    /// A planned case of a run, under its names in the merged run. `plan` is stored with it.
    pub(super) fn new(
        source: &'s Source,
        entry: &PlannedCase,
        names: &NewNames,
        plan: Option<String>,
    ) -> MergedCase<'s> {
        let case = names.rename(entry);
        let labels = case.labels();
        let renamed = |row: &Row| Row { labels: labels.clone(), case: case.clone(), ..row.clone() };
        let row = source.rows.get(&entry.id).map(renamed);
        let plan = entry.plan.clone().or(plan);
        let digest = entry.digest.clone().or_else(|| (case != entry.case).then(|| entry.digest()));
        MergedCase { entry: PlannedCase { labels, case, plan, digest, ..entry.clone() }, row, source }
    }

    /// Whether it replaces the same case of an earlier run.
    fn replaces(&self, earlier: &MergedCase<'_>) -> bool {
        match (&self.row, &earlier.row) {
            (Some(row), Some(earlier)) => earlier.status.is_failure() && !row.status.is_failure(),
            (row, earlier) => row.is_some() && earlier.is_none(),
        }
    }
}

/// The cases of several runs, each once, in the order in which they were added.
#[derive(Default)]
pub(super) struct MergedCases<'s> {
    list: Vec<MergedCase<'s>>,
    by_labels: HashMap<Labels, usize>,
    by_id: HashMap<String, usize>,
    duplicates: usize,
}

impl<'s> MergedCases<'s> {
    /// Adds a case of a run, or puts it in the place of the same case of an earlier run, if that one has failed or has no
    /// row.
    pub(super) fn add(&mut self, case: MergedCase<'s>) {
        let PlannedCase { id, labels, .. } = &case.entry;
        let Some(&place) = self.by_id.get(id).or_else(|| self.by_labels.get(labels)) else {
            self.by_id.insert(id.clone(), self.list.len());
            self.by_labels.insert(labels.clone(), self.list.len());
            self.list.push(case);
            return;
        };
        let known = &mut self.list[place];
        self.duplicates += usize::from(known.row.is_some() && case.row.is_some());
        if case.replaces(known) {
            *known = case;
        }
    }

    /// The cases added so far, under their names, each with the spec of its run.
    pub(super) fn named(&self) -> Vec<Specified<'_>> {
        self.list.iter().map(|case| (&case.entry, &case.source.spec)).collect()
    }

    /// All cases.
    pub(super) fn list(&self) -> &[MergedCase<'s>] {
        &self.list
    }

    /// Cases that have a row.
    pub(super) fn rows(&self) -> usize {
        self.list.iter().filter(|case| case.row.is_some()).count()
    }

    /// Rows of a run that are among them, whether it was merged itself or into another one.
    pub(super) fn rows_of(&self, run: &str) -> usize {
        let is_of =
            |case: &&MergedCase<'_>| case.row.as_ref().is_some_and(|row| case.source.origin(row) == run);
        self.list.iter().filter(is_of).count()
    }

    /// The runs whose rows have a name, each once.
    pub(super) fn runs_with(&self, kind: NameKind, name: &str) -> Vec<String> {
        let named = self.list.iter().filter(|case| kind.name(&case.entry) == name);
        let runs: BTreeSet<&str> =
            named.filter_map(|case| Some(case.source.origin(case.row.as_ref()?))).collect();
        runs.into_iter().map(str::to_owned).collect()
    }

    /// Rows that were left out, because another run has one of the same case.
    pub(super) fn duplicates(&self) -> usize {
        self.duplicates
    }
}
