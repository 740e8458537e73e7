//! Writes a run's report into its folder.

use std::fs;
use std::path::{Path, PathBuf};

use polars::prelude::{DataFrame, ParquetCompression, ParquetWriter};

use crate::charts;
use crate::error::{Result, at};
use crate::run::Run;
use crate::{export, frame, html, markdown};

/// What to write, and where.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Folder to write into; the run folder when absent.
    pub output: Option<PathBuf>,
}

/// What was written.
#[derive(Debug, Clone)]
pub struct Written {
    /// The page to open in a browser.
    pub html: PathBuf,
    /// The page of text.
    pub markdown: PathBuf,
    /// The charts.
    pub figures: Vec<PathBuf>,
}

/// Writes `results.parquet`, `traces.parquet`, for a run that trains `steps.parquet`, `summary.json`,
/// `report.md`, `index.html` and `figures/*.svg`, replacing those of an earlier report.
///
/// # Errors
/// If a table cannot be computed, a chart drawn or a file written.
pub fn write_all(run: &Run, options: &Options) -> Result<Written> {
    let dir = options.output.as_deref().unwrap_or(&run.dir);
    let figures_dir = dir.join("figures");
    fs::create_dir_all(&figures_dir).map_err(at(&figures_dir))?;
    parquet(&dir.join("results.parquet"), &mut frame::results(run)?)?;
    parquet(&dir.join("traces.parquet"), &mut frame::traces(run)?)?;
    if run.rows.iter().any(|row| !row.steps.is_empty()) {
        parquet(&dir.join("steps.parquet"), &mut frame::steps(run)?)?;
    }
    put(&dir.join("summary.json"), &format!("{:#}\n", export::summary(run)?))?;

    let figures = charts::figures(run)?;
    remove_old(&figures_dir)?;
    let mut paths = Vec::new();
    for figure in &figures {
        let path = figures_dir.join(&figure.file);
        put(&path, &figure.svg)?;
        paths.push(path);
    }
    let written = Written { html: dir.join("index.html"), markdown: dir.join("report.md"), figures: paths };
    put(&written.markdown, &markdown::page(run, &figures)?)?;
    put(&written.html, &html::page(run, &figures)?)?;
    Ok(written)
}

/// Charts of an earlier report would stand beside the new ones as if they were of them.
fn remove_old(figures: &Path) -> Result<()> {
    for entry in fs::read_dir(figures).map_err(at(figures))? {
        let path = entry.map_err(at(figures))?.path();
        if path.extension().is_some_and(|e| e == "svg") {
            fs::remove_file(&path).map_err(at(&path))?;
        }
    }
    Ok(())
}

fn put(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(at(path))
}

fn parquet(path: &Path, frame: &mut DataFrame) -> Result<()> {
    let file = fs::File::create(path).map_err(at(path))?;
    ParquetWriter::new(file).with_compression(ParquetCompression::Uncompressed).finish(frame)?;
    Ok(())
}
