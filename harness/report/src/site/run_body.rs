//! The part of a run's page that its own rows alone decide: its report without charts and details.

use gpbench_record::text;

use super::archive::ArchivedRun;
use super::verification::Verification;
use crate::error::Result;
use crate::export::html::{Links, sections};
use crate::frame::{Cases, Frame};
use crate::page::{Charts, Page};
use crate::papers;

/// Most bytes of a spec that a page shows.
const MOST_SPEC: usize = 1 << 16;

/// The tables of results, the cases that did not end `ok`, how it was measured, references and spec. Of a run
/// without a journal, all but the tables of results, which need more of its rows.
///
/// # Errors
/// If a table cannot be computed.
pub(super) fn body(archived: &ArchivedRun) -> Result<String> {
    let frame = Frame::new(&archived.run)?;
    let mut page = match archived.verification {
        Verification::Impossible => {
            let cases = Cases::of(&frame);
            let references = papers::cited(&cases, std::iter::empty());
            Page { cases, parts: Vec::new(), references }
        }
        _ => Page::new(&frame, Charts::LeftOut)?,
    };
    for part in &mut page.parts {
        part.details.clear();
        part.calibration.clear();
    }
    let spec = archived.run.record.spec();
    let spec = text::cut(&spec, MOST_SPEC);
    Ok(sections(&page, Links::Within { files: &[], spec: &spec }).into_string())
}
