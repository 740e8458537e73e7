//! The rows of a CSV file, plain or compressed.

mod dates;
mod diagnosis;
mod outcome;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use csv::ByteRecord;
use gpbench_record::{Missing, ReadOptions};

use crate::bytes::{Allowed, BUFFER, decompress};
use crate::categories::Levels;
use crate::cell::{
    Cell, Held, decimal_number, is_lacking, is_rounded, is_underflow, rounding, shown, underflow,
};
use crate::columns::Columns;
use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::faults::ColumnFaults;
use crate::lacking::Lacking;
use crate::layout::comment;
use crate::parts::{Part, Parts};
use crate::pattern::Pattern;
use crate::time::{self, TimeScale};

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
    decimal: char,
    missing: Missing,
    times: TimeScale,
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
    /// The values of columns of categories and of groups; empty for others.
    levels: Vec<Levels>,
    /// What the other columns hold.
    held: Vec<Held>,
    /// For each column with a date whose day may be meant as its month: the line and the text of the first one; none once a date
    /// settles the order.
    dates: BTreeMap<usize, Option<(u64, String)>>,
    /// The text that identifies each row; empty without a column of ids.
    ids: Vec<String>,
    /// The rows that are left out.
    lacking: Lacking,
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
    pub(crate) fn open(file: &Path, header: Header, options: &ReadOptions) -> Result<Self, ImportError> {
        let separator = options.cell_separator();
        let times = TimeScale::new(options).map_err(|fault| InputPosition::file(file).fault(fault))?;
        let allowance = Rc::new(std::cell::Cell::new(0));
        let text = Allowed { reader: decompress(file)?.chain(&b"\n"[..]), left: Rc::clone(&allowance) };
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .delimiter(separator as u8)
            .comment(options.comment.map(|mark| mark as u8))
            .flexible(true)
            // With `\n` as the only line end, and one appended at the end, the reader's line count after a record
            // is exact. Cells are trimmed, which removes `\r`.
            .terminator(csv::Terminator::Any(b'\n'))
            .buffer_capacity(BUFFER)
            .from_reader(Box::new(text) as Box<dyn Read>);
        let mut rows = Self {
            file: file.to_owned(),
            separator,
            decimal: options.decimal.unwrap_or('.'),
            missing: options.missing,
            times,
            allowance,
            reader,
            record: ByteRecord::new(),
            pending: true,
            first_line: 1,
            columns: Columns::unnamed(0),
            parts: None,
            levels: Vec::new(),
            held: Vec::new(),
            dates: BTreeMap::new(),
            ids: Vec::new(),
            lacking: Lacking::default(),
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
        rows.held = vec![Held::default(); rows.columns.count];
        Ok(rows)
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Chooses what the columns become.
    pub(crate) fn choose(&mut self, parts: Parts) {
        self.choose_like(parts, None);
    }

    /// Chooses what the columns become; those of categories have the values of a pattern only.
    pub(crate) fn choose_like(&mut self, parts: Parts, like: Option<&Pattern<'_>>) {
        let levels = |index: usize| match parts.of(index) {
            Part::Group => Levels::of_groups(),
            Part::Categories => Pattern::levels(like, &parts, index),
            _ => Levels::default(),
        };
        self.levels = (0..self.columns.count).map(levels).collect();
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

    /// Reads a row that is not left out, and notes its bad cells; false at the end.
    fn read_row(&mut self) -> Result<bool, ImportError> {
        loop {
            if !std::mem::take(&mut self.pending) && !self.advance()? {
                return Ok(false);
            }
            if self.record.len() != self.columns.count {
                return Err(self.ragged());
            }
            if !self.is_left_out() {
                break;
            }
        }
        self.row.clear();
        for index in 0..self.columns.count {
            let value = match self.part(index) {
                Part::Dropped => Ok(0.0),
                Part::Categories | Part::Group => category(&self.record[index], &mut self.levels[index]),
                Part::Input | Part::Target | Part::Kept => self.value(index),
                Part::Id => self.take_id(index),
            };
            match value {
                Ok(value) => self.row.push(value),
                Err(cell) => self.note_bad(index, cell)?,
            }
        }
        Ok(true)
    }

    /// Keeps the text that identifies this row.
    fn take_id(&mut self, index: usize) -> Result<f64, Cell> {
        let text = std::str::from_utf8(self.record[index].trim_ascii()).map_err(|_| Cell::NotUtf8)?;
        if text.is_empty() {
            return Err(Cell::Empty);
        }
        self.ids.push(text.to_owned());
        Ok(0.0)
    }

    /// What a column becomes.
    fn part(&self, index: usize) -> Part {
        self.parts.as_ref().map_or(Part::Input, |parts| parts.of(index))
    }

    /// Whether this row lacks a value and is to be left out, which is counted.
    fn is_left_out(&mut self) -> bool {
        if self.missing == Missing::Refuse {
            return false;
        }
        let is_used = |index: &usize| self.part(*index) != Part::Dropped;
        let cells = (0..self.columns.count).filter(is_used);
        let lacking: Vec<usize> = cells.filter(|index| is_lacking(&self.record[*index])).collect();
        self.lacking.add(&lacking)
    }

    /// The number in a cell, or the number of its time.
    fn value(&mut self, index: usize) -> Result<f64, Cell> {
        let cell = &self.record[index];
        let (value, held) = match decimal_number(cell, self.decimal) {
            Ok(value) => (value, Held::Numbers),
            Err(wrong) => {
                let moment = time::parse(cell).ok_or(wrong)?;
                (self.times.number(moment), Held::Times(moment.clock))
            }
        };
        match self.held[index] {
            Held::Nothing => self.held[index] = held,
            before if before == held => {}
            before => return Err(Cell::Mixed(held, before)),
        }
        if held == Held::Numbers {
            self.note_rounding(index, value);
        } else {
            self.note_date(index);
        }
        Ok(value)
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
    /// infinite values and numbers with commas do not count as text: they are faults of the data. Times beside numbers are
    /// data too.
    fn detect_header(&mut self) -> Result<(), ImportError> {
        let decimal = self.decimal;
        let number = |cell: &[u8]| decimal_number(cell, decimal);
        let has_numbers = self.record.iter().any(|cell| number(cell).is_ok());
        let is_text = |cell: &[u8]| {
            let is_text = matches!(number(cell), Err(Cell::Text | Cell::Date | Cell::NotUtf8));
            is_text && !(has_numbers && time::parse(cell).is_some())
        };
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
    let refused = if levels.is_closed() { Cell::UnknownCategory } else { Cell::TooManyCategories };
    levels.code(value).ok_or(refused)
}
