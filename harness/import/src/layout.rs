//! How the lines of a text are divided into cells, where the separator that was tried divides none.

use std::path::Path;

use crate::bytes::first_lines;
use crate::error::ImportError;
use crate::fault::FileFault;

/// Lines that are looked at.
const LINES: usize = 20;
/// Characters that begin a comment in common formats.
const COMMENTS: [&[u8]; 5] = [b"#", b"%", b"//", b"!", b"--"];

/// The mark of a comment that a line begins with.
pub(crate) fn comment(line: &[u8]) -> Option<String> {
    let line = line.trim_ascii_start();
    let mark = COMMENTS.into_iter().find(|mark| line.starts_with(mark))?;
    // `--1` is a mistyped number, and `!` may begin a word.
    let rest = line.get(mark.len()).copied();
    let is_comment = matches!(mark, b"#" | b"%") || rest.is_none_or(|byte| byte == b' ');
    is_comment.then(|| String::from_utf8_lossy(mark).into_owned())
}

/// Why a text has one cell a line when `used` separates cells and `skipped` begins comments.
pub(crate) fn one_column(file: &Path, used: char, skipped: Option<char>) -> Result<FileFault, ImportError> {
    let lines = first_lines(file, LINES, skipped)?;
    let first = lines.first().map(String::as_str).unwrap_or_default();
    if let Some(separator) = stated(first) {
        return Ok(FileFault::StatedSeparator { separator });
    }
    if let Some(mark) = comment(first.as_bytes()) {
        return Ok(FileFault::Comment { mark });
    }
    let candidates = || [',', ';', '\t', '|', ' '].into_iter().filter(|separator| *separator != used);
    let separator = candidates().find(|separator| is_even(lines.iter().map(|line| cells(line, *separator))));
    let are_words = || is_even(lines.iter().map(|line| Some(line.split_whitespace().count())));
    Ok(match separator {
        None if are_words() => FileFault::Aligned,
        // A file with ragged lines has one too.
        None => FileFault::OneColumn { separator: candidates().find(|c| *c != ' ' && first.contains(*c)) },
        found => FileFault::OneColumn { separator: found },
    })
}

/// The separator of a first line `sep=;`, as spreadsheets write it.
fn stated(line: &str) -> Option<char> {
    let rest = line.trim_start_matches('\u{feff}').trim_matches('"').strip_prefix("sep=")?;
    let mut characters = rest.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// The number of cells of a line; none where cells that are separated by a blank are empty.
fn cells(line: &str, separator: char) -> Option<usize> {
    let cells: Vec<&str> = line.split(separator).collect();
    let is_whole = !separator.is_whitespace() || cells.iter().all(|cell| !cell.is_empty());
    is_whole.then_some(cells.len())
}

/// Whether all lines have the same number of cells, at least two.
fn is_even(counts: impl Iterator<Item = Option<usize>>) -> bool {
    let mut counts = counts.peekable();
    let first = counts.peek().copied().flatten();
    first.is_some_and(|count| count > 1) && counts.all(|count| count == first)
}
