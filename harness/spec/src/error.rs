//! Mistakes in a spec, each with its place and, where one is known, its correction.

use std::fmt;
use std::path::{Path, PathBuf};

use gpbench_record::text;

use crate::source::{Location, Position, Sources};

/// One mistake in a spec.
///
/// Displayed as `file:line:column: error: what; hint` and, where the place is
/// known, its line with a caret below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecError {
    /// The spec, or the option (`--set`, `--library`) that holds the mistake.
    pub file: PathBuf,
    /// 1-based line; 0 if the file could not be read at all.
    pub line: usize,
    /// 1-based column, in characters.
    pub column: usize,
    /// What is wrong, in one sentence.
    pub what: String,
    /// What to write instead.
    pub hint: Option<String>,
    /// The line of the file, and the number of characters that carets underline.
    pub excerpt: Option<(String, usize)>,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        if self.line > 0 {
            write!(f, "{}:{}:", self.line, self.column)?;
        }
        write!(f, " error: {}", self.what)?;
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        if let Some((text, width)) = &self.excerpt {
            let (text, column) = window(text, self.column);
            let number = self.line.to_string();
            let gutter = " ".repeat(number.len());
            write!(f, "\n{gutter} |\n{number} | {text}\n{gutter} | ")?;
            let room = (text.chars().count() + 1).saturating_sub(column - 1).max(1);
            write!(f, "{}{}", " ".repeat(column - 1), "^".repeat((*width).clamp(1, room)))?;
        }
        Ok(())
    }
}

/// Cuts a long line down to the part around `column`; tabs become single blanks
/// and hidden characters single marks, so that the caret is below its word.
fn window(line: &str, column: usize) -> (String, usize) {
    const WIDEST: usize = 110;
    const BEFORE: usize = 40;
    let seen = |c: char| match c {
        '\t' => ' ',
        c if text::is_hidden(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    let characters: Vec<char> = line.chars().map(seen).collect();
    if characters.len() <= WIDEST {
        return (characters.iter().collect(), column);
    }
    let start = (column - 1).saturating_sub(BEFORE).min(characters.len());
    let end = (start + WIDEST).min(characters.len());
    (characters[start..end].iter().collect(), column - start)
}

/// All mistakes found in a spec, in the order of their places. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecErrors(Vec<SpecError>);

impl std::error::Error for SpecErrors {}

impl fmt::Display for SpecErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, error) in self.0.iter().enumerate() {
            if k > 0 {
                f.write_str("\n\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl SpecErrors {
    /// The mistakes.
    pub fn errors(&self) -> &[SpecError] {
        &self.0
    }

    /// An error about a spec as a whole, such as that it cannot be read.
    pub(crate) fn unreadable(path: &Path, what: String) -> Self {
        let file = path.to_owned();
        Self(vec![SpecError { file, line: 0, column: 0, what, hint: None, excerpt: None }])
    }
}

/// A mistake before its place is looked up.
#[derive(Debug, Clone, PartialEq)]
struct Mistake {
    at: Location,
    what: String,
    hint: Option<String>,
}

impl Mistake {
    /// The error to show.
    fn located(self, sources: &Sources) -> SpecError {
        let Position { file, line, column, text, width } = sources.position(&self.at);
        SpecError { file, line, column, what: self.what, hint: self.hint, excerpt: Some((text, width)) }
    }
}

/// Largest number of mistakes that are kept: a list may hold a hundred thousand wrong seeds.
const MOST_KEPT: usize = 1000;

/// Largest number of mistakes that are shown, each with its line of the spec.
const MOST_SHOWN: usize = 50;

/// The mistakes found so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mistakes(Vec<Mistake>);

impl Mistakes {
    /// Adds a mistake. The same one at the same place is kept once, however many cells of the matrix have it.
    pub(crate) fn add(&mut self, at: &Location, what: impl Into<String>, hint: impl Into<Option<String>>) {
        let mistake = Mistake { at: at.clone(), what: what.into(), hint: hint.into() };
        if self.0.len() < MOST_KEPT && !self.0.contains(&mistake) {
            self.0.push(mistake);
        }
    }

    /// Adds an item that `what` holds for: items that share place, cause and hint make one sentence.
    pub(crate) fn add_item(&mut self, at: &Location, what: &str, item: &str, hint: String) {
        let hint = Some(hint);
        let known = self.0.iter_mut().find(|m| m.at == *at && m.hint == hint && m.what.starts_with(what));
        match known {
            Some(known) if known.what[what.len()..].split(", ").any(|i| i.trim() == item) => {}
            Some(known) => known.what += &format!(", {item}"),
            None => self.0.push(Mistake { at: at.clone(), what: format!("{what} {item}"), hint }),
        }
    }

    /// Whether a mistake at exactly this place has been added.
    pub(crate) fn is_reported(&self, at: &Location) -> bool {
        self.0.iter().any(|mistake| mistake.at == *at)
    }

    /// Whether a mistake at this place, or in a part of it, has been added.
    pub(crate) fn is_reported_within(&self, at: &Location) -> bool {
        let Location { source, span } = at;
        let is_within = |other: &Location| {
            other.source == *source && other.span.start >= span.start && other.span.end <= span.end
        };
        self.0.iter().any(|mistake| is_within(&mistake.at))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The errors to show, in the order of the text. There has to be a mistake.
    pub(crate) fn into_errors(mut self, sources: &Sources) -> SpecErrors {
        assert!(!self.is_empty(), "a spec without mistakes has no errors");
        self.0.sort_by_key(|m| (m.at.source, m.at.span.start, m.at.span.end));
        let more = self.0.len().saturating_sub(MOST_SHOWN);
        let shown = self.0.into_iter().take(MOST_SHOWN);
        let mut errors: Vec<_> = shown.map(|mistake| mistake.located(sources)).collect();
        if more > 0 {
            let file = errors[0].file.clone();
            errors.extend(SpecErrors::unreadable(&file, format!("{more} more mistakes are not shown")).0);
        }
        SpecErrors(errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caret_is_below_its_word_in_a_long_line() {
        let line = format!("length_scale = [{}, -2.0]", vec!["1.0"; 60].join(", "));
        let column = line.chars().count() - 4;
        let error = SpecError {
            file: "s.toml".into(),
            line: 3,
            column,
            what: "negative".into(),
            hint: None,
            excerpt: Some((line, 4)),
        };
        let text = error.to_string();
        let lines: Vec<&str> = text.lines().collect();
        let caret = lines[3].find('^').expect("a caret");
        assert_eq!(&lines[2][caret..caret + 4], "-2.0");
        assert!(lines[2].len() < 120);
    }
}
