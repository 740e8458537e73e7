//! Writes a run's report into its folder.

use std::collections::BTreeSet;
use std::path::PathBuf;

use gpbench_runs::ReportFolder;
use polars::prelude::{DataFrame, ParquetCompression, ParquetWriter};

use crate::error::Result;
use crate::export::{Format, html, markdown, shown};
use crate::frame::Frame;
use crate::page::{Charts, Page};
use crate::run::Run;

/// Options of [`Frame::write`].
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Folder to write into; the run folder when absent.
    pub output: Option<PathBuf>,
}

/// Paths of the files that were written.
#[derive(Debug, Clone)]
pub struct Written {
    /// The page to open in a browser.
    pub html: PathBuf,
    /// The page of text.
    pub markdown: PathBuf,
    /// The charts.
    pub figures: Vec<PathBuf>,
}

/// Files that are always written, and that the page links.
const FILES: &[&str] = &["results.parquet", "results.csv", "traces.parquet", "summary.json", TEXT];

/// The page to open in a browser.
const PAGE: &str = "index.html";

/// The page of text.
const TEXT: &str = "report.md";

/// File of the hyperparameters and metrics of each step, of a run that takes steps.
const STEPS: &str = "steps.parquet";

/// Writes the report of a run, as [`Frame::write`] does.
///
/// # Errors
/// If a table cannot be computed, a chart drawn or a file written.
pub fn write_all(run: &Run, options: &WriteOptions) -> Result<Written> {
    Frame::new(run)?.write(options)
}

impl Frame<'_> {
    /// Writes `results.parquet`, `results.csv`, `traces.parquet`, for a run that takes steps `steps.parquet`, `summary.json`,
    /// `report.md`, `index.html` and `figures/*.svg`, replacing those of an earlier report. Other files stay as they are.
    ///
    /// # Errors
    /// If a table cannot be computed, a chart drawn or a file written, or if a link has the name of a file or of the folder of
    /// charts.
    pub fn write(&self, options: &WriteOptions) -> Result<Written> {
        let page = Page::new(self, Charts::Drawn)?;
        let folder = options.output.as_deref().unwrap_or(&self.run.record.folder);
        let folder = ReportFolder::open(folder)?;
        let charts = folder.folder("figures")?;
        folder.check(FILES.iter().copied().chain([STEPS, PAGE]))?;
        charts.check(page.figures().map(|figure| figure.file.as_str()))?;
        // Charts of the earlier report could be mistaken for those of this one.
        let earlier = folder.earlier(TEXT);
        charts.remove(&charts_in(&earlier), "pdf")?;
        let put = |name: &str, text: &str| folder.write(name, |file| file.write_all(text.as_bytes()));
        parquet(&folder, "results.parquet", self.results_with_cases()?)?;
        parquet(&folder, "traces.parquet", self.traces.table.clone())?;
        let mut files = FILES.to_vec();
        if self.steps.table.height() > 0 {
            parquet(&folder, STEPS, self.steps.table.clone())?;
            files.push(STEPS);
        }
        let mut figures = Vec::new();
        for figure in page.figures() {
            figures.push(charts.write(&figure.file, |file| file.write_all(figure.svg.as_bytes()))?);
        }
        put("summary.json", &self.export(Format::Summary)?)?;
        let markdown = put(TEXT, &shown(&markdown::page(&page), Format::Markdown))?;
        put("results.csv", &self.export(Format::Csv)?)?;
        if options.output.is_none() {
            files.extend(["spec.toml", "logs/"]);
        }
        let html = put(PAGE, &shown(&html::page(&page, &files), Format::Html))?;
        Ok(Written { html, markdown, figures })
    }
}

/// The names of the charts that a page of text refers to.
fn charts_in(page: &str) -> BTreeSet<&str> {
    let targets = page.split("](figures/").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(name, _)| name).filter(|name| name.ends_with(".svg")).collect()
}

fn parquet(folder: &ReportFolder, name: &str, mut table: DataFrame) -> Result<()> {
    let mut bytes = Vec::new();
    ParquetWriter::new(&mut bytes)
        .with_compression(ParquetCompression::Uncompressed)
        .finish(&mut table)?;
    folder.write(name, |file| file.write_all(&bytes))?;
    Ok(())
}
