//! The journal, as all readers read it.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, ErrorKind, Read as _};
use std::path::Path;

use gpbench_files::checksum::LineChecker;
use gpbench_files::open_regular;
use gpbench_record::{JournalEntry, Row};

use crate::RunError;
use crate::error::Context as _;
use crate::layout::JOURNAL;
use crate::limits::{LINES, LineLimits, values};
use crate::upgrade;

/// Contents of a journal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JournalContents {
    /// The newest row of each case, in the order in which cases first ended.
    pub rows: Vec<Row>,
    /// Complete lines that cannot be read, or have changed since they were written.
    pub damaged: Vec<DamagedRow>,
    /// Whether the last line is cut short, as by a process killed while writing.
    pub truncated: bool,
    /// Bytes of complete lines.
    pub(crate) complete: u64,
}

/// A complete line of a journal that cannot be read. Its case counts as not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRow {
    /// Its number, counted from 1.
    pub line: usize,
    /// Why it cannot be read.
    pub reason: String,
}

impl fmt::Display for DamagedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{JOURNAL} line {} cannot be read ({})", self.line, self.reason)
    }
}

impl DamagedRow {
    /// The warning that names this line. `complete`: every planned case has a row nevertheless.
    pub fn warning(&self, complete: bool) -> String {
        let consequence = if complete { "every case has another row" } else { "its case runs again" };
        format!("{self}; {consequence}")
    }
}

/// Reads the journal of a run folder. Takes no lock, so that a run can be read while it is in progress.
///
/// # Errors
/// When the file cannot be read, is no regular file, or has more lines than are read.
pub fn read_journal(folder: &Path) -> Result<JournalContents, RunError> {
    let path = folder.join(JOURNAL);
    open_regular(&path).and_then(|file| JournalContents::read(BufReader::new(file))).context("read", &path)
}

impl JournalContents {
    /// Reads a journal, of which one line at a time is in memory.
    ///
    /// # Errors
    /// When it cannot be read, or has more lines than are read.
    pub(crate) fn read(text: impl BufRead) -> io::Result<Self> {
        Self::read_within(text, LINES)
    }

    /// [`JournalContents::read`] within limits.
    fn read_within(mut text: impl BufRead, limits: LineLimits) -> io::Result<Self> {
        let mut contents = JournalContents::default();
        let mut places: HashMap<String, usize> = HashMap::new();
        let (mut checker, mut line, mut count) = (LineChecker::default(), Vec::new(), 0);
        for number in 1.. {
            let LineRead { bytes, has_end, is_long } = read_line(&mut text, &mut line, limits.bytes)?;
            if !has_end {
                contents.truncated = bytes > 0;
                break;
            }
            contents.complete += bytes;
            if line.is_empty() && !is_long {
                continue;
            }
            count += 1;
            if count > limits.lines {
                return Err(io::Error::new(ErrorKind::InvalidInput, more_than(limits.lines, "lines")));
            }
            let within = check_size(&line, is_long, limits);
            let checked = within.and_then(|()| checker.check(&line).map_err(|damage| damage.to_string()));
            match checked.and_then(|()| entry(&line)) {
                Ok(JournalEntry::Case(row)) => match places.get(&row.id) {
                    Some(&place) => contents.rows[place] = *row,
                    None => {
                        places.insert(row.id.clone(), contents.rows.len());
                        contents.rows.push(*row);
                    }
                },
                Ok(JournalEntry::Unknown) => {}
                Err(reason) => contents.damaged.push(DamagedRow { line: number, reason }),
            }
        }
        Ok(contents)
    }
}

/// How a line was read.
#[derive(Debug, Default, PartialEq, Eq)]
struct LineRead {
    /// Its bytes, with its line feed.
    bytes: u64,
    /// Whether it ends in a line feed, as all complete lines do.
    has_end: bool,
    /// Whether it has more bytes than are read; what was read is then a part of it.
    is_long: bool,
}

/// Reads the next line without its line feed, of which at most `most` bytes and one are in memory. At the end of the
/// text, it has no bytes.
fn read_line(text: &mut impl BufRead, line: &mut Vec<u8>, most: usize) -> io::Result<LineRead> {
    let mut read = LineRead::default();
    loop {
        // The next part of a line that is too long takes the place of the part before.
        line.clear();
        let part = text.by_ref().take(most as u64 + 1).read_until(b'\n', line)?;
        read.bytes += part as u64;
        read.has_end = line.pop_if(|last| *last == b'\n').is_some();
        if read.has_end || part <= most {
            return Ok(read);
        }
        read.is_long = true;
    }
}

/// Fails if a line has more bytes or values than are read.
fn check_size(line: &[u8], is_long: bool, limits: LineLimits) -> Result<(), String> {
    if is_long {
        Err(more_than(limits.bytes, "bytes"))
    } else if values(line) > limits.values {
        Err(more_than(limits.values, "values"))
    } else {
        Ok(())
    }
}

fn more_than(most: usize, what: &str) -> String {
    format!("it has more than {most} {what}, the most that are read")
}

/// Parses a line, of the current schema or of an earlier one.
fn entry(line: &[u8]) -> Result<JournalEntry, String> {
    serde_json::from_slice(line).or_else(|error| {
        let upgraded = serde_json::from_slice(line).ok().and_then(upgrade::entry);
        upgraded.map_or(Err(error), serde_json::from_value).map_err(|error| reason(&error))
    })
}

/// Why a line cannot be parsed, without the parser's own line number: it is given one line.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.split_once(" at line ") {
        Some((what, _)) => format!("{what} at column {}", error.column()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use gpbench_files::checksum::seal;
    use gpbench_record::testing;

    use super::*;

    /// The line of a row.
    fn line(id: &str) -> Vec<u8> {
        let row = Row { id: id.into(), ..testing::row(testing::case("cg"), &[]) };
        let entry = JournalEntry::Case(Box::new(row));
        let mut line = seal(&serde_json::to_vec(&entry).unwrap());
        line.push(b'\n');
        line
    }

    fn ids(contents: &JournalContents) -> Vec<&str> {
        contents.rows.iter().map(|row| row.id.as_str()).collect()
    }

    #[test]
    fn lines_are_read_up_to_their_limit_and_parts_of_longer_ones_are_skipped() {
        for (text, first, second) in [
            ("abc\nd\n", (4, true, false), "d"),
            ("abcd\nd\n", (5, true, true), "d"),
            ("abcdefghij\nd\n", (11, true, true), "d"),
            ("\nd\n", (1, true, false), "d"),
            ("abc", (3, false, false), ""),
            ("abcdefgh", (8, false, true), ""),
            ("", (0, false, false), ""),
        ] {
            let (mut rest, mut line) = (text.as_bytes(), Vec::new());
            let LineRead { bytes, has_end, is_long } = read_line(&mut rest, &mut line, 3).unwrap();
            assert_eq!((bytes, has_end, is_long), first, "{text:?}");
            assert!(line.len() <= 4, "{text:?}");
            read_line(&mut rest, &mut line, 3).unwrap();
            assert_eq!(line, second.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn a_line_beyond_a_limit_is_named_and_the_others_are_read() {
        let (a, c) = (line("a"), line("c"));
        let limits = LineLimits { bytes: 2 * a.len(), values: 2 * values(&a), lines: 9 };
        let long = vec![b'x'; 9 * a.len()];
        let many = vec![b'['; limits.values + 1];
        let text = [&a[..], &long, b"\n", &many, b"\n\n", &c].concat();
        let contents = JournalContents::read_within(&text[..], limits).unwrap();
        assert_eq!((ids(&contents), contents.truncated), (vec!["a", "c"], false));
        assert_eq!(contents.complete, text.len() as u64);
        let named: Vec<(usize, &str)> =
            contents.damaged.iter().map(|damaged| (damaged.line, damaged.reason.as_str())).collect();
        let [bytes, values] = [more_than(limits.bytes, "bytes"), more_than(limits.values, "values")];
        assert_eq!(named, [(2, bytes.as_str()), (3, values.as_str())]);
        // A long line without its end was cut short, as any other.
        let cut = JournalContents::read_within(&[&a[..], &long].concat()[..], limits).unwrap();
        assert_eq!((ids(&cut), cut.truncated, cut.damaged.len()), (vec!["a"], true, 0));
        assert_eq!(cut.complete, a.len() as u64);
    }

    #[test]
    fn a_journal_of_too_many_lines_is_refused() {
        let limits = LineLimits { lines: 2, ..LINES };
        let two = b"x\n\ny\n".as_slice();
        assert_eq!(JournalContents::read_within(two, limits).unwrap().damaged.len(), 2);
        let error = JournalContents::read_within(&[two, b"z\n"].concat()[..], limits).unwrap_err();
        assert_eq!(error.to_string(), "it has more than 2 lines, the most that are read");
    }
}
