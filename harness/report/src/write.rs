//! Writes a run's report into its folder.

use std::path::PathBuf;

use gpbench_runs::ReportFolder;
use polars::prelude::{DataFrame, ParquetCompression, ParquetWriter};

use crate::charts::figure::Figure;
use crate::charts::form::ChartForm;
use crate::error::{Error, Result};
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

/// The folder of charts for a paper.
const PAPER: &str = "paper";

/// File of the hyperparameters and metrics of each step, of a run that takes steps.
const STEPS: &str = "steps.parquet";

/// File of the predictions on test rows, of a run that keeps some.
const PREDICTIONS: &str = "predictions.parquet";

/// Writes the report of a run, as [`Frame::write`] does.
///
/// # Errors
/// If a table cannot be computed, a chart drawn or a file written.
pub fn write_all(run: &Run, options: &WriteOptions) -> Result<Written> {
    Frame::new(run)?.write(options)
}

impl Frame<'_> {
    /// Writes `results.parquet`, `results.csv`, `traces.parquet`, for a run that takes steps `steps.parquet`, for one that keeps
    /// predictions `predictions.parquet`, `summary.json`, `report.md`, `index.html` and `figures/*.svg`, replacing those of an earlier report. Other files stay as they are.
    ///
    /// # Errors
    /// If a table cannot be computed, a chart drawn or a file written, or if a link has the name of a file or of the folder of
    /// charts.
    pub fn write(&self, options: &WriteOptions) -> Result<Written> {
        let page = Page::new(self, Charts::Drawn(ChartForm::default()))?;
        let folder = ReportFolder::open(options.output.as_deref().unwrap_or(&self.run.record.folder))?;
        let files = Files { charts: folder.folder("figures")?, folder };
        files.check(&page)?;
        files.remove_charts()?;
        let written = self.write_page(&page, &files, options);
        let full = |error: &Error| matches!(error, Error::Run(error) if error.is_full_disk());
        let written = match written {
            // A file is replaced once the new one is there, so that both need room.
            Err(error) if full(&error) => {
                files.remove(&page)?;
                self.write_page(&page, &files, options)
            }
            written => written,
        };
        // What is there of it would take the room of rows.
        written.inspect_err(|_| drop(files.remove(&page)))
    }

    /// Writes the charts alone, in a form for a paper, to `paper/*.svg`, replacing those of an earlier report.
    ///
    /// # Errors
    /// If a chart cannot be drawn or written.
    pub fn write_for_paper(&self, form: ChartForm) -> Result<Vec<PathBuf>> {
        let page = Page::new(self, Charts::Drawn(form))?;
        let folder = ReportFolder::open(&self.run.record.folder)?;
        let charts = folder.folder(PAPER)?;
        charts.check(charts_of(&page))?;
        charts.remove(charts_in(&folder.earlier(TEXT)), Some("pdf"))?;
        let write =
            |figure: &Figure| Ok(charts.write(&figure.file, |file| file.write_all(figure.svg.as_bytes()))?);
        page.figures().map(write).collect()
    }

    fn write_page(&self, page: &Page<'_>, to: &Files, options: &WriteOptions) -> Result<Written> {
        let Files { folder, charts } = to;
        let put = |name: &str, text: &str| folder.write(name, |file| file.write_all(text.as_bytes()));
        parquet(folder, "results.parquet", self.results_with_cases()?)?;
        parquet(folder, "traces.parquet", self.traces.table.clone())?;
        let mut files = FILES.to_vec();
        if self.steps.table.height() > 0 {
            parquet(folder, STEPS, self.steps.table.clone())?;
            files.push(STEPS);
        }
        if let Some(predictions) = self.predictions()? {
            parquet(folder, PREDICTIONS, predictions)?;
            files.push(PREDICTIONS);
        }
        let mut figures = Vec::new();
        for figure in page.figures() {
            figures.push(charts.write(&figure.file, |file| file.write_all(figure.svg.as_bytes()))?);
        }
        put("summary.json", &self.export(Format::Summary)?)?;
        let markdown = put(TEXT, &shown(&markdown::page(page), Format::Markdown))?;
        put("results.csv", &self.export(Format::Csv)?)?;
        if options.output.is_none() {
            files.extend(["spec.toml", "logs/"]);
        }
        let html = put(PAGE, &shown(&html::page(page, html::Links::Beside(&files)), Format::Html))?;
        Ok(Written { html, markdown, figures })
    }
}

/// The folders that a report is written into.
struct Files {
    folder: ReportFolder,
    charts: ReportFolder,
}

impl Files {
    /// Fails if a file of the report cannot be written because something other than a regular file has its name.
    fn check(&self, page: &Page<'_>) -> Result<()> {
        self.folder.check(names())?;
        Ok(self.charts.check(charts_of(page))?)
    }

    /// Removes the charts of the earlier report, which could be mistaken for those of this one.
    fn remove_charts(&self) -> Result<()> {
        Ok(self.charts.remove(charts_in(&self.folder.earlier(TEXT)), Some("pdf"))?)
    }

    /// Removes the report.
    fn remove(&self, page: &Page<'_>) -> Result<()> {
        self.charts.remove(charts_of(page), Some("pdf"))?;
        Ok(self.folder.remove(names(), None)?)
    }
}

/// The files of a report but for its charts.
fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().copied().chain([STEPS, PREDICTIONS, PAGE])
}

fn charts_of<'p>(page: &'p Page<'_>) -> impl Iterator<Item = &'p str> {
    page.figures().map(|figure| figure.file.as_str())
}

/// The names of the charts that a page of text refers to.
fn charts_in(page: &str) -> impl Iterator<Item = &str> {
    let targets = page.split("](figures/").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(name, _)| name).filter(|name| name.ends_with(".svg"))
}

fn parquet(folder: &ReportFolder, name: &str, mut table: DataFrame) -> Result<()> {
    let mut bytes = Vec::new();
    ParquetWriter::new(&mut bytes).with_compression(ParquetCompression::Uncompressed).finish(&mut table)?;
    folder.write(name, |file| file.write_all(&bytes))?;
    Ok(())
}
