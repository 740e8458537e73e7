//! Part files: events of an attempt, written by its runner as JSON lines.
//!
//! The front makes the file before the attempt is sent, with the assigned cases as its first line, so that no node and no
//! cache of a network file system stores that the file is absent. Then the runner alone appends. Lines have checksums, as those
//! of a journal have; the line of a case is one of the journal, byte for byte.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use gpbench_files::checksum::LineChecker;
use gpbench_files::open_regular;
use gpbench_record::PartLine;

use crate::ClusterError;
use crate::error::Context as _;
use crate::line;

/// A part file, open for appending.
#[derive(Debug)]
pub struct PartWriter {
    file: File,
    path: PathBuf,
    length: u64,
}

impl PartWriter {
    /// Makes the part file of an attempt, with its first line. There must be none.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(path: &Path, assigned: &PartLine) -> Result<(), ClusterError> {
        // Closing it is enough for other hosts to see it. One that is there may hold rows.
        File::create_new(path)
            .and_then(|mut file| file.write_all(&line::seal(assigned)))
            .context("write", path)
    }

    /// Opens the part file of an attempt. A last line that is cut short is ended, so that the next one is whole.
    ///
    /// # Errors
    /// Those of the file system; there must be one.
    pub fn open(path: &Path) -> Result<Self, ClusterError> {
        let opened = OpenOptions::new().read(true).append(true).open(path);
        let mut file = opened.context("open", path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).context("read", path)?;
        let mut length = bytes.len() as u64;
        if bytes.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n").context("write", path)?;
            length += 1;
        }
        Ok(Self { file, path: path.to_owned(), length })
    }

    /// Appends a line, and waits until it is on the disk.
    ///
    /// # Errors
    /// When the line cannot be written. What was written of it is removed.
    pub fn append(&mut self, line: &PartLine) -> Result<(), ClusterError> {
        let text = line::seal(line);
        line::append(&mut self.file, &mut self.length, &text).context("write", &self.path)
    }
}

/// A line of a part file.
#[derive(Debug, Clone, PartialEq)]
pub struct NewLine {
    /// Its content.
    pub line: PartLine,
    /// Its bytes, without the line feed.
    pub bytes: Vec<u8>,
}

/// New lines of a part file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct News {
    /// Complete lines since the last read.
    pub lines: Vec<NewLine>,
    /// Complete lines that cannot be read, each with the reason. Their cases count as not run.
    pub damaged: Vec<String>,
}

/// Reads a part file while it grows.
#[derive(Debug, Clone, Default)]
pub struct PartReader {
    path: PathBuf,
    /// Bytes of the complete lines that were read.
    read: u64,
    /// Complete lines that were read.
    lines: usize,
    checker: LineChecker,
}

impl PartReader {
    /// A reader that has read nothing.
    pub fn new(path: PathBuf) -> Self {
        Self { path, ..Self::default() }
    }

    /// Reads the complete lines since the last read. The file is opened anew each time, so that lines that other hosts have
    /// written are found. A missing file has no lines.
    ///
    /// # Errors
    /// When the file cannot be read. Nothing is lost: the next read begins at the same place.
    pub fn read(&mut self) -> Result<News, ClusterError> {
        let mut bytes = match self.bytes() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(News::default()),
            bytes => bytes.context("read", &self.path)?,
        };
        bytes.truncate(line::complete(&bytes));
        self.read += bytes.len() as u64;
        let mut news = News::default();
        for text in line::split(&bytes) {
            self.lines += 1;
            match line::parse(&mut self.checker, text) {
                Ok(line) => news.lines.push(NewLine { line, bytes: text.to_owned() }),
                Err(reason) => {
                    let what =
                        format!("{} line {} cannot be read ({reason})", self.path.display(), self.lines);
                    news.damaged.push(what);
                }
            }
        }
        Ok(news)
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut file = open_regular(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use gpbench_record::testing::{case, row};
    use gpbench_record::{Attempt, Ending};

    use super::*;

    fn assigned() -> PartLine {
        let attempt = Attempt { task: 0, attempt: 1 };
        PartLine::Assigned { attempt, cases: vec!["a".into()], seconds: None }
    }

    fn beat(time: &str) -> PartLine {
        PartLine::Beat { time: time.into(), advanced: false }
    }

    fn lines(reader: &mut PartReader) -> Vec<PartLine> {
        let news = reader.read().unwrap();
        assert!(news.damaged.is_empty(), "{news:?}");
        news.lines.into_iter().map(|line| line.line).collect()
    }

    #[test]
    fn only_complete_new_lines_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0000.01.jsonl");
        let mut reader = PartReader::new(path.clone());
        assert_eq!(lines(&mut reader), []);
        PartWriter::create(&path, &assigned()).unwrap();
        assert_eq!(lines(&mut reader), [assigned()]);
        let text = line::seal(&beat("1"));
        let (head, tail) = text.split_at(20);
        let append = |bytes: &[u8]| OpenOptions::new().append(true).open(&path).unwrap().write_all(bytes);
        append(head).unwrap();
        assert_eq!(lines(&mut reader), []);
        append(tail).unwrap();
        assert_eq!(lines(&mut reader), [beat("1")]);
        assert_eq!(lines(&mut reader), []);
        PartWriter::open(&path).unwrap().append(&beat("2")).unwrap();
        assert_eq!(lines(&mut reader), [beat("2")]);
        assert_eq!(lines(&mut PartReader::new(path)).len(), 3);
    }

    #[test]
    fn the_line_of_a_case_is_one_of_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0000.01.jsonl");
        PartWriter::create(&path, &assigned()).unwrap();
        let row = row(case("cg"), &[("residual_y", 0.1 + 0.2)]);
        PartWriter::open(&path).unwrap().append(&PartLine::Case(Box::new(row.clone()))).unwrap();
        let news = PartReader::new(path).read().unwrap();
        let entry = serde_json::from_slice(&news.lines[1].bytes).unwrap();
        assert_eq!(gpbench_record::JournalEntry::Case(Box::new(row.clone())), entry);
        let journal = serde_json::to_vec(&gpbench_record::JournalEntry::Case(Box::new(row))).unwrap();
        assert_eq!(gpbench_files::checksum::seal(&journal), news.lines[1].bytes);
    }

    #[test]
    fn damaged_lines_are_told_and_others_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0000.01.jsonl");
        PartWriter::create(&path, &assigned()).unwrap();
        let mut text = fs::read(&path).unwrap();
        text.extend(line::seal(&beat("1")).iter().map(|byte| if *byte == b'1' { b'7' } else { *byte }));
        text.extend(b"{\"check\":\"torn");
        fs::write(&path, text).unwrap();
        let mut writer = PartWriter::open(&path).unwrap();
        let ended = PartLine::Ended { time: "2".into(), ending: Ending::Done, advanced: false };
        writer.append(&ended).unwrap();
        let news = PartReader::new(path).read().unwrap();
        let read: Vec<_> = news.lines.into_iter().map(|line| line.line).collect();
        assert_eq!(read, [assigned(), ended]);
        assert_eq!(news.damaged.len(), 2, "{:?}", news.damaged);
        assert!(
            news.damaged[0].ends_with("line 2 cannot be read (its checksum is wrong)"),
            "{:?}",
            news.damaged
        );
    }
}
