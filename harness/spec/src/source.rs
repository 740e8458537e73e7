//! The texts that a spec is made of, and places in them.

use std::ops::Range;
use std::path::PathBuf;

/// A place in one of the texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// Index into [`Sources`].
    pub(crate) source: usize,
    /// Bytes.
    pub(crate) span: Range<usize>,
}

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) at: Location,
}

/// The spec's text, followed by one text for each `--set` and `--library`.
#[derive(Debug, Clone)]
pub(crate) struct Sources(Vec<(PathBuf, String)>);

/// Index of the spec itself in [`Sources`].
pub(crate) const SPEC: usize = 0;

/// The beginning of the spec: the location of a mistake about something that is missing.
pub(crate) const START: Location = Location { source: SPEC, span: 0..0 };

/// A place by line and column.
pub(crate) struct Position {
    pub(crate) file: PathBuf,
    /// 1-based.
    pub(crate) line: usize,
    /// 1-based, in characters.
    pub(crate) column: usize,
    /// The line's text.
    pub(crate) text: String,
    /// Characters of the place on its first line.
    pub(crate) width: usize,
}

impl Sources {
    pub(crate) fn new(path: PathBuf, text: String) -> Self {
        Self(vec![(path, text)])
    }

    /// Adds the argument of an option; its index.
    pub(crate) fn push(&mut self, option: &str, text: &str) -> usize {
        self.0.push((option.into(), text.to_owned()));
        self.0.len() - 1
    }

    /// Whether a place is in an argument of this option.
    pub(crate) fn is_option(&self, at: &Location, option: &str) -> bool {
        self.0[at.source].0.as_os_str() == option
    }

    pub(crate) fn text(&self, source: usize) -> &str {
        &self.0[source].1
    }

    /// Line and column of a place.
    pub(crate) fn position(&self, at: &Location) -> Position {
        let (file, text) = &self.0[at.source];
        let start = floor_boundary(text, at.span.start);
        let end = floor_boundary(text, at.span.end).max(start);
        let line_start = text[..start].rfind('\n').map_or(0, |k| k + 1);
        let line = text[line_start..].lines().next().unwrap_or("");
        let line_end = line_start + line.len();
        Position {
            file: file.clone(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            text: line.to_owned(),
            width: text[start..end.clamp(start, line_end.max(start))].chars().count(),
        }
    }
}

/// The nearest character boundary at or below `k`.
fn floor_boundary(text: &str, k: usize) -> usize {
    let mut k = k.min(text.len());
    while !text.is_char_boundary(k) {
        k -= 1;
    }
    k
}
