//! What authors of reports say of cells: why one differs, or why it was not measured.

use serde::Deserialize;

use super::cell::Cell;
use crate::reference::Reference;

/// The file of remarks.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Notes {
    /// Of cells beyond the spread: what a control says.
    pub(super) differs: Vec<Note>,
    /// Of cells that were not measured.
    pub(super) absent: Vec<Note>,
}

impl Notes {
    /// The first remark that is about no cell: a name in it is wrong.
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

/// A remark on all cells that are of the paper and have what it names; an empty list names all.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    /// Name of the reference.
    paper: String,
    #[serde(default)]
    tables: Vec<String>,
    #[serde(default)]
    datasets: Vec<String>,
    /// Names of methods, without what tells the rows of one apart.
    #[serde(default)]
    methods: Vec<String>,
    /// `RMSE`, as the pages write it.
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
