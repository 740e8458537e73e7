//! A report as one file to send: the page with everything that it links inside it.
//!
//! Charts are a part of the page already; files that lie beside it in a run folder are attached.

use super::attachment::Attachment;
use super::{Format, html, shown};
use crate::charts::form::ChartForm;
use crate::error::Result;
use crate::frame::Frame;
use crate::page::{Charts, Page};

impl Frame<'_> {
    /// The report as one page that needs no other file: charts, tables, spec, results as CSV, and the tables for a paper.
    ///
    /// # Errors
    /// If a table cannot be computed or a chart drawn.
    pub fn bundle(&self) -> Result<String> {
        let page = Page::new(self, Charts::Drawn(ChartForm::default()))?;
        let spec = self.run.record.spec();
        let files = [
            Attachment::new("results.csv", "text/csv", &self.export(Format::Csv)?),
            Attachment::new("summary.json", "application/json", &self.export(Format::Summary)?),
            Attachment::new("tables.tex", "text/plain", &self.export(Format::Latex)?),
            Attachment::new("spec.toml", "text/plain", &spec),
        ];
        Ok(shown(&html::page(&page, html::Links::Within { files: &files, spec: &spec }), Format::Html))
    }
}
