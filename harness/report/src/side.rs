//! The sides of a comparison.

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
