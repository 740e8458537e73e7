//! The rows of a CSV file, plain or compressed.

mod diagnosis;

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use csv::ByteRecord;

use crate::bytes::{Allowed, BUFFER, decompress};
use crate::categories::{Input, Levels};
use crate::cell::{Cell, is_rounded, is_underflow, number, rounding, shown, underflow};
use crate::columns::Columns;
use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::faults::ColumnFaults;
use crate::layout::comment;
use crate::parts::{Part, Parts};

/// Bytes of the longest line that is read: enough for a hundred thousand columns. Without a limit, a file without
/// line ends, or an archive that unpacks to one, would be held in memory as a whole.
const LONGEST_LINE: usize = 16 << 20;
/// Columns from which a first line 0, 1, 2, ... is a header that counts them, as pandas writes one. Two such cells may
/// well be data.
const COUNTED: usize = 3;

/// Whether the first line may hold the names of the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// A first line that holds any text is a header.
    Detect,
    /// The first line is a header.
    Always,
    /// Every line is data.
    Never,
}

/// Reads rows of numbers one by one, and checks each.
pub(crate) struct Rows {
    file: PathBuf,
    separator: char,
    /// Bytes that may be read before the current line must end.
    allowance: Rc<std::cell::Cell<usize>>,
    reader: csv::Reader<Box<dyn Read>>,
    record: ByteRecord,
    /// Whether `record` holds the first line, which is data and has not been returned.
    pending: bool,
    first_line: u64,
    columns: Columns,
    /// What the columns become; all are inputs until it is chosen.
    parts: Option<Parts>,
    /// The values of columns of categories; empty for others.
    levels: Vec<Levels>,
    faults: ColumnFaults,
    /// Whether the first line is a header.
    has_header: bool,
    /// Whether a row has been read.
    has_rows: bool,
    warnings: Vec<String>,
    /// Columns with a warning about a value.
    warned: BTreeSet<usize>,
    /// The mark of a comment that the first line begins with.
    first_comment: Option<String>,
    row: Vec<f64>,
}

impl Rows {
    /// Opens a file and reads its first line.
    pub(crate) fn open(file: &Path, header: Header, separator: char) -> Result<Self, ImportError> {
        let allowance = Rc::new(std::cell::Cell::new(0));
        let text = Allowed { reader: decompress(file)?.chain(&b"\n"[..]), left: Rc::clone(&allowance) };
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .delimiter(separator as u8)
            .flexible(true)
            // With `\n` as the only line end, and one appended at the end, the reader's line count after a record
            // is exact. Cells are trimmed, which removes `\r`.
            .terminator(csv::Terminator::Any(b'\n'))
            .buffer_capacity(BUFFER)
            .from_reader(Box::new(text) as Box<dyn Read>);
        let mut rows = Self {
            file: file.to_owned(),
            separator,
            allowance,
            reader,
            record: ByteRecord::new(),
            pending: true,
            first_line: 1,
            columns: Columns::unnamed(0),
            parts: None,
            levels: Vec::new(),
            faults: ColumnFaults::default(),
            has_header: false,
            has_rows: false,
            warnings: Vec::new(),
            warned: BTreeSet::new(),
            first_comment: None,
            row: Vec::new(),
        };
        if !rows.advance()? {
            return Err(InputPosition::file(file).fault(FileFault::Empty));
        }
        rows.first_line = rows.line();
        rows.first_comment = rows.record.get(0).and_then(comment);
        rows.columns = Columns::unnamed(rows.record.len());
        match header {
            Header::Detect => rows.detect_header()?,
            Header::Always => rows.take_header()?,
            Header::Never => {}
        }
        Ok(rows)
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Chooses what the columns become.
    pub(crate) fn choose(&mut self, parts: Parts) {
        self.levels.resize_with(self.columns.count, Levels::default);
        self.parts = Some(parts);
    }

    /// The next row: a number for each column, 0 for one that is dropped; `None` at the end.
    ///
    /// After a bad cell, the remaining rows are read only to find the other bad columns, and the error tells all.
    pub(crate) fn next(&mut self) -> Result<Option<&[f64]>, ImportError> {
        loop {
            match self.read_row() {
                Ok(true) if self.faults.is_empty() => {
                    self.has_rows = true;
                    return Ok(Some(&self.row));
                }
                Ok(true) => {}
                end => {
                    self.faults.take(&self.file)?;
                    return end.map(|_| None);
                }
            }
        }
    }

    /// Reads a row, and notes its bad cells; false at the end.
    fn read_row(&mut self) -> Result<bool, ImportError> {
        if !std::mem::take(&mut self.pending) && !self.advance()? {
            return Ok(false);
        }
        let (found, expected) = (self.record.len(), self.columns.count);
        if found != expected {
            return Err(self.ragged());
        }
        self.row.clear();
        for index in 0..expected {
            let value = match self.parts.as_ref().map_or(Part::Input, |parts| parts.of(index)) {
                Part::Dropped => Ok(0.0),
                Part::Categories => category(&self.record[index], &mut self.levels[index]),
                Part::Input | Part::Target => {
                    number(&self.record[index]).inspect(|value| self.note_rounding(index, *value))
                }
            };
            match value {
                Ok(value) => self.row.push(value),
                Err(cell) => self.note_bad(index, cell)?,
            }
        }
        Ok(true)
    }

    /// Warns of a number that is not read as it is written.
    fn note_rounding(&mut self, index: usize, value: f64) {
        let cell = &self.record[index];
        if is_rounded(cell, value) {
            self.warn(index, |place, column, text| rounding(place, column, text, value));
        } else if is_underflow(cell, value) {
            self.warn(index, underflow);
        }
    }

    /// Adds a warning about a cell of this row, the first one of its column.
    fn warn(&mut self, index: usize, text: impl FnOnce(&str, &str, &str) -> String) {
        if self.warned.insert(index) {
            let (place, column) = (format!("line {}", self.line()), self.columns.describe(index));
            self.warnings.push(text(&place, &column, &shown(&self.record[index])));
        }
    }

    /// The first line, where it is data.
    pub(crate) fn first_line_of_data(&self) -> Option<u64> {
        (!self.has_header).then_some(self.first_line)
    }

    pub(crate) fn first_line(&self) -> u64 {
        self.first_line
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// What the columns become, once it is chosen.
    pub(crate) fn parts(&self) -> Option<&Parts> {
        self.parts.as_ref()
    }

    /// The inputs, with the values of their categories, which are taken.
    pub(crate) fn take_inputs(&mut self) -> Vec<Input> {
        let Some(parts) = &self.parts else { return Vec::new() };
        let input = |index: usize| Input {
            description: self.columns.describe(index),
            label: self.columns.label(index),
            levels: (parts.of(index) == Part::Categories).then(|| std::mem::take(&mut self.levels[index])),
        };
        parts.inputs().map(input).collect()
    }

    /// Warnings so far, which are taken.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// The line of the row that `next` returned last. The record's own position would be that of the blank lines
    /// before it.
    pub(crate) fn line(&self) -> u64 {
        self.reader.position().line() - 1
    }

    /// Reads a record and skips blank lines; false at the end.
    fn advance(&mut self) -> Result<bool, ImportError> {
        loop {
            let line = self.reader.position().line();
            self.allowance.set(LONGEST_LINE);
            let read =
                self.reader.read_byte_record(&mut self.record).map_err(|error| match error.kind() {
                    csv::ErrorKind::Io(error) => InputPosition::line(&self.file, line).io(error),
                    // Nothing else can fail with byte records of any length.
                    _ => InputPosition::line(&self.file, line)
                        .fault(FileFault::Unreadable { reason: error.to_string() }),
                })?;
            if !read || self.record.len() > 1 || !self.record[0].trim_ascii().is_empty() {
                return Ok(read);
            }
        }
    }

    /// Uses the first line as column names if any of its cells is text, or if it counts the columns. Missing and
    /// infinite values and numbers with commas do not count as text: they are faults of the data.
    fn detect_header(&mut self) -> Result<(), ImportError> {
        let is_text = |cell: &[u8]| matches!(number(cell), Err(Cell::Text | Cell::Date | Cell::NotUtf8));
        let line = self.first_line;
        let Some(text) = self.record.iter().position(is_text) else {
            let counts =
                self.record.iter().enumerate().all(|(k, cell)| cell.trim_ascii() == k.to_string().as_bytes());
            if counts && self.record.len() >= COUNTED {
                let what = "counts the columns from 0, so it is used as a header; if it is data, set `header` to false";
                self.warnings.push(format!("line {line} {what}"));
                (self.pending, self.has_header) = (false, true);
            }
            return Ok(());
        };
        if let Some(index) = self.record.iter().position(|cell| number(cell).is_ok()) {
            self.warnings.push(format!(
                "line {line} is used as a header because of `{}`, although `{}` in it is a number",
                shown(&self.record[text]),
                shown(&self.record[index])
            ));
        }
        self.take_header()
    }

    /// Uses the first line as column names.
    fn take_header(&mut self) -> Result<(), ImportError> {
        let line = self.first_line;
        let mut names = Vec::new();
        for (index, cell) in self.record.iter().enumerate() {
            let name = std::str::from_utf8(cell)
                .map_err(|_| InputPosition::cell(&self.file, line, index).fault(FileFault::Encoding))?;
            names.push(name.trim().to_owned());
        }
        self.columns = Columns::named(names, |index| InputPosition::cell(&self.file, line, index))?;
        (self.pending, self.has_header) = (false, true);
        Ok(())
    }
}

/// The code of a category.
fn category(cell: &[u8], levels: &mut Levels) -> Result<f64, Cell> {
    let value = std::str::from_utf8(cell.trim_ascii()).map_err(|_| Cell::NotUtf8)?;
    if value.is_empty() {
        return Err(Cell::Empty);
    }
    levels.code(value).ok_or(Cell::TooManyCategories)
}
