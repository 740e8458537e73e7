//! `[report]`: options of the report.

use crate::keys::{Keys, choice, list, name, text};
use crate::source::At;

/// Collections of published figures.
const REFERENCES: [&str; 4] = ["lin2023", "lin2024", "rtgps2021", "shoham2025"];

#[derive(Debug, Clone)]
pub(crate) struct Report {
    pub(crate) reference: Option<At<String>>,
    pub(crate) baseline: Option<At<String>>,
    pub(crate) columns: Option<At<Vec<At<String>>>>,
    pub(crate) compare: Option<At<Vec<At<String>>>>,
}

pub(crate) fn read(keys: &mut Keys<'_>) -> Report {
    let references =
        choice("collection of published figures", REFERENCES.map(|name| (name, name.to_owned())));
    Report {
        reference: keys.optional("reference", references, "Published figures to print beside ours."),
        baseline: keys.optional(
            "baseline",
            text(),
            "Name on the solver axis that speed-ups are measured against.",
        ),
        columns: keys.derived(
            "columns",
            list(name()),
            "those of the task",
            "Metrics of the results table, in this order, such as [\"test_rmse\", \"epochs\"].",
        ),
        compare: keys.optional(
            "compare",
            list(text()),
            "Archived results to show beside ours: packed runs, run folders and folders of packed runs, relative to \
             the spec's folder.",
        ),
    }
}
