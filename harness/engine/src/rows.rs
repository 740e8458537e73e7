//! The destination of rows.

use gpbench_record::{CaseStatus, Row};
use gpbench_runs::{Journal, RunError};

/// The destination of rows: the journal of a run folder, or a file that is later copied into one.
pub trait RowSink: Send {
    /// Called before a case starts; whether it may start. If not, no further case starts either.
    ///
    /// # Errors
    /// When the start is to be stored, and cannot be.
    fn begin(&mut self, id: &str) -> Result<bool, RunError>;

    /// Stores a row. When the call returns, it is on the disk.
    ///
    /// # Errors
    /// When the row cannot be stored.
    fn append(&mut self, row: &Row) -> Result<(), RunError>;

    /// The status of a case's newest row, if it has one.
    fn status(&self, id: &str) -> Option<CaseStatus>;
}

impl RowSink for Journal {
    /// A run folder keeps starts in a file of their own.
    fn begin(&mut self, _: &str) -> Result<bool, RunError> {
        Ok(true)
    }

    fn append(&mut self, row: &Row) -> Result<(), RunError> {
        Journal::append(self, row)
    }

    fn status(&self, id: &str) -> Option<CaseStatus> {
        Journal::status(self, id)
    }
}
