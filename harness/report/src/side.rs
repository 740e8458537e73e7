//! The sides of a comparison.

use std::collections::BTreeSet;

use crate::baseline::other_contents;
use crate::frame::Cases;

/// One side of a comparison: a run, or one solver of a run.
pub(crate) struct Side<'f> {
    pub(crate) name: &'f str,
    pub(crate) cases: Cases<'f>,
}

/// The names of the sides, with the run's folder where names repeat.
pub(crate) fn headings(sides: &[Side<'_>]) -> Vec<String> {
    let heading = |side: &Side<'_>| match sides.iter().filter(|other| other.name == side.name).count() {
        1 => side.name.to_owned(),
        _ => format!("{} {}", side.name, side.cases.run().folder_name()),
    };
    sides.iter().map(heading).collect()
}

/// A remark on data sets whose content differs from that of the first run.
pub(crate) fn content_remark(first: &Cases<'_>, side: &Side<'_>) -> Option<String> {
    let sets: BTreeSet<&str> = side.cases.iter().map(|case| case.dataset()).collect();
    let others: Vec<_> = other_contents(first.record(), side.cases.record(), sets).collect();
    (!others.is_empty()).then(|| {
        format!(
            "in {}, the content of these data sets is other than in the first run: {}",
            side.name,
            others.join(", ")
        )
    })
}
