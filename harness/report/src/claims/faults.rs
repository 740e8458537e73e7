//! What is wrong with a list of claims, with its places.

use std::path::Path;

use toml::Spanned;

use crate::error::line_and_column;

/// Mistakes of a list, each with its byte offset in the text.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<(usize, String)>);

impl Faults {
    /// Adds what is wrong with a value of the list.
    pub(super) fn add<T>(&mut self, value: &Spanned<T>, reason: impl Into<String>) {
        self.0.push((value.span().start, reason.into()));
    }

    /// Number of mistakes so far.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// `FILE:LINE:COLUMN: error: REASON`, in the order of the text.
    pub(super) fn lines(mut self, file: &Path, text: &str) -> Vec<String> {
        self.0.sort();
        self.0.dedup();
        let line = |(offset, reason): &(usize, String)| {
            let (line, column) = line_and_column(text, *offset);
            format!("{}:{line}:{column}: error: {reason}", file.display())
        };
        self.0.iter().map(line).collect()
    }
}
