//! What can go wrong while reading a run or writing its report.

use std::path::PathBuf;

/// A report's errors.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder holds no journal, so it is not a run.
    #[error("{} is not a run folder: it has no journal.jsonl", .0.display())]
    NotARun(PathBuf),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line of the journal, not the last one, is not a row.
    #[error("{}:{line}: not a journal row: {source}", path.display())]
    Journal {
        /// The journal.
        path: PathBuf,
        /// 1-based line number.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The spec or the baseline file is not what it should be.
    #[error("{}: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A table could not be computed.
    #[error("cannot aggregate the results: {0}")]
    Frame(#[from] polars::error::PolarsError),
    /// A chart could not be drawn.
    #[error("cannot draw {chart}: {reason}")]
    Chart {
        /// Which chart.
        chart: String,
        /// What the drawing library said.
        reason: String,
    },
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Adapter for `map_err`: an input or output error at `path`.
pub(crate) fn at(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { path, source }
}
