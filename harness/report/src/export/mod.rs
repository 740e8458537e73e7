//! The forms in which a run is written, one exporter each.

mod csv;
mod html;
mod json;
mod markdown;
mod text;

use crate::error::Result;
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
    /// The page of text, `report.md`.
    Markdown,
    /// The page for a browser, `index.html`.
    Html,
    /// Counts, and means with standard errors: `summary.json`.
    Summary,
}

/// A run in one form; charts are drawn for [`Format::Html`] alone.
///
/// # Errors
/// If a table cannot be computed or a chart drawn.
pub fn export(run: &Run, format: Format) -> Result<String> {
    let charts = if format == Format::Html { Charts::Drawn } else { Charts::LeftOut };
    write(&Page::new(run, charts)?, format)
}

/// A page in one form.
pub(crate) fn write(page: &Page<'_>, format: Format) -> Result<String> {
    match format {
        Format::Text => Ok(text::page(page)),
        Format::Json => Ok(json::cases(page.run)),
        Format::Csv => csv::cases(page.run),
        Format::Markdown => Ok(markdown::page(page)),
        Format::Html => Ok(html::page(page)),
        Format::Summary => json::summary(page.run),
    }
}
