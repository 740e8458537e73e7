//! What authors of reports say of cells: why one differs, or why it was not measured.

use serde::Deserialize;

use super::cell::Cell;

/// The file of remarks.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Notes {
    /// Of cells beyond the spread: what a control says.
    pub(super) differs: Vec<Note>,
    /// Of cells that were not measured.
    pub(super) absent: Vec<Note>,
}

/// A remark on all cells that have what it names.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    /// Name of the reference.
    paper: String,
    table: Option<String>,
    dataset: Option<String>,
    /// The method's name, without what tells its rows apart.
    method: Option<String>,
    /// `RMSE`, as the pages write it.
    quantity: Option<String>,
    /// A paragraph.
    pub(super) text: String,
}

impl Note {
    pub(super) fn is_of(&self, paper: &str) -> bool {
        self.paper == paper
    }

    pub(super) fn is_about(&self, paper: &str, cell: &Cell<'_>) -> bool {
        let is = |asked: &Option<String>, own: &str| asked.as_deref().is_none_or(|asked| asked == own);
        self.is_of(paper)
            && is(&self.table, cell.table)
            && is(&self.dataset, &cell.row.dataset)
            && is(&self.method, &cell.row.method)
            && is(&self.quantity, cell.quantity.name())
    }
}
