//! Writes a run's report into its folder.

use std::fs;
use std::path::{Path, PathBuf};

use polars::prelude::{DataFrame, ParquetCompression, ParquetWriter};

use crate::error::{Result, at};
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
const FILES: &[&str] = &["results.parquet", "results.csv", "traces.parquet", "summary.json", "report.md"];

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
    /// `report.md`, `index.html` and `figures/*.svg`, replacing those of an earlier report.
    ///
    /// # Errors
    /// If a table cannot be computed, a chart drawn or a file written.
    pub fn write(&self, options: &WriteOptions) -> Result<Written> {
        let page = Page::new(self, Charts::Drawn)?;
        let folder = options.output.as_deref().unwrap_or(&self.run.record.folder);
        let figures_folder = folder.join("figures");
        fs::create_dir_all(&figures_folder).map_err(at(&figures_folder))?;
        parquet(&folder.join("results.parquet"), self.results_with_cases()?)?;
        parquet(&folder.join("traces.parquet"), self.traces.table.clone())?;
        let mut files = FILES.to_vec();
        if self.steps.table.height() > 0 {
            parquet(&folder.join(STEPS), self.steps.table.clone())?;
            files.push(STEPS);
        }
        remove_old(&figures_folder)?;
        let mut figures = Vec::new();
        for figure in page.figures() {
            let path = figures_folder.join(&figure.file);
            put(&path, &figure.svg)?;
            figures.push(path);
        }
        let html = folder.join("index.html");
        let markdown = folder.join("report.md");
        put(&folder.join("summary.json"), &self.export(Format::Summary)?)?;
        put(&markdown, &shown(&markdown::page(&page), Format::Markdown))?;
        put(&folder.join("results.csv"), &self.export(Format::Csv)?)?;
        if options.output.is_none() {
            files.extend(["spec.toml", "logs/"]);
        }
        put(&html, &shown(&html::page(&page, &files), Format::Html))?;
        Ok(Written { html, markdown, figures })
    }
}

/// Removes the charts of an earlier report, which could be mistaken for those of this one.
fn remove_old(figures: &Path) -> Result<()> {
    for entry in fs::read_dir(figures).map_err(at(figures))? {
        let path = entry.map_err(at(figures))?.path();
        if path.extension().is_some_and(|e| e == "svg" || e == "pdf") {
            fs::remove_file(&path).map_err(at(&path))?;
        }
    }
    Ok(())
}

fn put(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(at(path))
}

fn parquet(path: &Path, mut table: DataFrame) -> Result<()> {
    let file = fs::File::create(path).map_err(at(path))?;
    ParquetWriter::new(file).with_compression(ParquetCompression::Uncompressed).finish(&mut table)?;
    Ok(())
}
