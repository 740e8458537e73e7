//! Learners: what they predict, and what they learn.

use super::section::{MEANS, Section};
use super::solve;
use crate::charts::figure::Drawn;
use crate::layout::Layout;
use crate::results::Results;

/// The section of task `learn`.
pub(super) struct Learn;

impl Section for Learn {
    fn title(&self) -> &'static str {
        "Learners"
    }

    fn conventions(&self) -> &'static [&'static str] {
        &[MEANS]
    }

    fn layouts<'a>(&self, results: &'a Results<'a>) -> Vec<Layout<'a>> {
        solve::layouts(results)
    }

    fn figures(&self, _: &Results<'_>) -> Vec<Drawn> {
        Vec::new()
    }
}
