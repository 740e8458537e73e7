//! Remarks of the authors of reports: why a cell differs, or why it was not measured.

use serde::Deserialize;

use super::cell::Cell;
use crate::reference::Reference;

/// The file of remarks.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Notes {
    /// Remarks on cells beyond the spread.
    pub(super) differs: Vec<Note>,
    /// Remarks on cells that were not measured.
    pub(super) absent: Vec<Note>,
}

impl Notes {
    /// The first remark that matches no cell: a name in it is wrong.
    pub(super) fn stray(&self, papers: &[(&str, Reference)]) -> Option<&Note> {
        let is_about_some = |note: &&Note| {
            let cells = |(name, reference): &(&str, Reference)| {
                Cell::all(reference).iter().any(|cell| note.is_about(name, cell))
            };
            papers.iter().any(cells)
        };
        self.differs.iter().chain(&self.absent).find(|note| !is_about_some(note))
    }
}

/// A remark on the cells of a paper that match all of its lists; an empty list matches all.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    /// Name of the reference.
    paper: String,
    #[serde(default)]
    tables: Vec<String>,
    #[serde(default)]
    datasets: Vec<String>,
    /// Names of methods as in the rows of the reference.
    #[serde(default)]
    methods: Vec<String>,
    /// Names of quantities as on the pages, such as `RMSE`.
    #[serde(default)]
    quantities: Vec<String>,
    /// A paragraph.
    pub(super) text: String,
}

impl Note {
    pub(super) fn is_of(&self, paper: &str) -> bool {
        self.paper == paper
    }

    pub(super) fn is_about(&self, paper: &str, cell: &Cell<'_>) -> bool {
        let is = |named: &[String], own: &str| named.is_empty() || named.iter().any(|named| named == own);
        self.is_of(paper)
            && is(&self.tables, cell.table)
            && is(&self.datasets, &cell.row.dataset)
            && is(&self.methods, &cell.row.method)
            && is(&self.quantities, cell.quantity.name())
    }
}
