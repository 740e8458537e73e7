//! Errors while reading a run or writing its report.

use std::path::PathBuf;

/// An error while reading a run or writing its report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The run folder cannot be read.
    #[error(transparent)]
    Run(#[from] gpbench_runs::RunError),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A baseline file is not of its form.
    #[error("{}:{} {reason}", path.display(), place(*at))]
    Format {
        /// The file.
        path: PathBuf,
        /// Line and column, 1-based, where the mistake has one place.
        at: Option<(usize, usize)>,
        /// What is wrong with it.
        reason: String,
    },
    /// The files of a run are too large to be published.
    #[error(
        "journal, plan, spec and environments of {} have {:.1} MiB; those of a published run have at most {} MiB: \
         run it with fewer data sets, solvers or seeds",
        run.display(), *bytes as f64 / f64::from(1 << 20), most >> 20
    )]
    TooLarge {
        /// The run folder.
        run: PathBuf,
        /// Bytes of the files together.
        bytes: u64,
        /// Most bytes of a published run.
        most: u64,
    },
    /// A table could not be computed.
    #[error("cannot aggregate the results: {0}")]
    Frame(#[from] polars::error::PolarsError),
    /// A chart could not be drawn.
    #[error("cannot draw a chart: {0}")]
    Chart(String),
}

fn place(at: Option<(usize, usize)>) -> String {
    at.map_or_else(String::new, |(line, column)| format!("{line}:{column}: error:"))
}

/// Line and column of a byte offset in a text, 1-based; columns count characters.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or_default();
    let begin = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[begin..].chars().count() + 1)
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Adapter for `map_err`: an input or output error at `path`.
pub(crate) fn at(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { path, source }
}
