//! Exporters of a run, one for each format.

mod attachment;
mod bundle;
mod csv;
pub(crate) mod html;
mod json;
pub(crate) mod latex;
pub(crate) mod markdown;
mod text;

use gpbench_record::text as foreign;

use crate::charts::form::ChartForm;
use crate::error::Result;
use crate::fit::Fitted;
use crate::frame::{Cases, Frame};
use crate::page::{Charts, Page};
use crate::run::Run;

/// Format of an exported run.
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
    /// The tables for a paper, in LaTeX.
    Latex,
    /// Counts, and means with standard errors: `summary.json`.
    Summary,
}

/// A run in a format.
///
/// # Errors
/// If a table cannot be computed or a chart drawn.
pub fn export(run: &Run, format: Format) -> Result<String> {
    Frame::new(run)?.export(format)
}

impl Frame<'_> {
    /// The run in a format.
    ///
    /// # Errors
    /// If a table cannot be computed or a chart drawn.
    pub fn export(&self, format: Format) -> Result<String> {
        let written = match format {
            Format::Text => self.for_terminal(None).map(|fitted| fitted.text),
            Format::Json => Ok(json::cases(&self.run.record.rows)),
            Format::Csv => csv::cases(self),
            Format::Markdown => Ok(markdown::page(&Page::new(self, Charts::LeftOut)?)),
            Format::Html => {
                let page = Page::new(self, Charts::Drawn(ChartForm::default()))?;
                Ok(html::page(&page, html::Links::Nowhere))
            }
            Format::Latex => Ok(latex::page(&Page::new(self, Charts::LeftOut)?)),
            Format::Summary => Ok(json::summary(&Cases::of(self))),
        };
        written.map(|document| shown(&document, format))
    }

    /// The results tables for a terminal: at most `width` columns wide where the least columns allow it.
    ///
    /// # Errors
    /// If a table cannot be computed.
    pub fn for_terminal(&self, width: Option<usize>) -> Result<Fitted> {
        let fitted = text::page(&Page::new(self, Charts::LeftOut)?, width);
        Ok(Fitted { text: shown(&fitted.text, Format::Text), ..fitted })
    }
}

/// Escapes control characters and invisible characters of a document, so that foreign text can neither control a terminal nor
/// hide text.
pub(crate) fn shown(document: &str, format: Format) -> String {
    match format {
        Format::Json | Format::Summary => foreign::json(document),
        Format::Text | Format::Csv | Format::Markdown | Format::Html | Format::Latex => {
            foreign::plain(document)
        }
    }
    .into_owned()
}
