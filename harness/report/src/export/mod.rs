//! The forms in which a run is written, one exporter each.

mod csv;
pub(crate) mod html;
mod json;
pub(crate) mod markdown;
mod text;

use gpbench_record::text as foreign;

use crate::error::Result;
use crate::fit::Fitted;
use crate::page::{Charts, Page};
use crate::run::Run;

/// A form in which a run is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The results tables, aligned for a terminal.
    Text,
    /// Every case with its metrics.
    Json,
    /// Every case, a line each: the content of `results.parquet`.
    Csv,
    /// The page of text, `report.md`, without its charts.
    Markdown,
    /// The page for a browser, `index.html`.
    Html,
    /// Counts, and means with standard errors: `summary.json`.
    Summary,
}

/// A run in one form.
///
/// # Errors
/// If a table cannot be computed or a chart drawn.
pub fn export(run: &Run, format: Format) -> Result<String> {
    let written = match format {
        Format::Text => for_terminal(run, None).map(|fitted| fitted.text),
        Format::Json => Ok(json::cases(run)),
        Format::Csv => csv::cases(run),
        Format::Markdown => Ok(markdown::page(&Page::new(run, Charts::LeftOut)?)),
        Format::Html => Ok(html::page(&Page::new(run, Charts::Drawn)?, &[])),
        Format::Summary => json::summary(run),
    };
    written.map(|document| shown(&document, format))
}

/// The results tables in at most `width` columns of a terminal, where that can be had.
///
/// # Errors
/// If a table cannot be computed.
pub fn for_terminal(run: &Run, width: Option<usize>) -> Result<Fitted> {
    let Fitted { text, left_out } = text::page(&Page::new(run, Charts::LeftOut)?, width);
    Ok(Fitted { text: shown(&text, Format::Text), left_out })
}

/// A document without characters that a terminal or a reader would obey, or that hide text: whatever it holds of
/// others, they are written out.
pub(crate) fn shown(document: &str, format: Format) -> String {
    match format {
        Format::Json | Format::Summary => foreign::json(document),
        Format::Text | Format::Csv | Format::Markdown | Format::Html => foreign::plain(document),
    }
    .into_owned()
}
