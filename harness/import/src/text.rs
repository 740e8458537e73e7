//! Reads CSV files, plain or compressed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use csv::ByteRecord;
use flate2::read::MultiGzDecoder;
use gpbench_data::Table;
use ndarray::{Array1, Array2};

use crate::columns::Columns;
use crate::error::{Fault, ImportError, Place};
use crate::memory;

const BUFFER: usize = 1 << 18;
/// Bytes of the longest line that is read: enough for a hundred thousand columns. Without a limit, a file without
/// line ends, or an archive that unpacks to one, would be held in memory as a whole.
const LONGEST_LINE: usize = 16 << 20;
/// Columns from which a first line 0, 1, 2, ... is a header that counts them, as pandas writes one. Two such cells may
/// well be data.
const COUNTED: usize = 3;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Whether the first line may hold the names of the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// A first line that holds any text is a header.
    Detect,
    /// Every line is data.
    Never,
}

/// Reads rows of numbers one by one, and checks each.
pub(crate) struct Rows {
    file: PathBuf,
    /// Bytes that may be read before the current line must end.
    allowance: Rc<std::cell::Cell<usize>>,
    reader: csv::Reader<Box<dyn Read>>,
    record: ByteRecord,
    /// Whether `record` holds the first line, which is data and has not been returned.
    pending: bool,
    first_line: u64,
    columns: Columns,
    warnings: Vec<String>,
    /// Columns with integers that were rounded.
    rounded: BTreeSet<usize>,
    row: Vec<f64>,
}

impl Rows {
    /// Opens a file and reads its first line.
    pub(crate) fn open(file: &Path, header: Header) -> Result<Self, ImportError> {
        let allowance = Rc::new(std::cell::Cell::new(0));
        let text = Allowed { reader: decompress(file)?.chain(&b"\n"[..]), left: Rc::clone(&allowance) };
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            // With `\n` as the only line end, and one appended at the end, the reader's line count after a record
            // is exact. Cells are trimmed, which removes `\r`.
            .terminator(csv::Terminator::Any(b'\n'))
            .buffer_capacity(BUFFER)
            .from_reader(Box::new(text) as Box<dyn Read>);
        let mut rows = Self {
            file: file.to_owned(),
            allowance,
            reader,
            record: ByteRecord::new(),
            pending: true,
            first_line: 1,
            columns: Columns::unnamed(0),
            warnings: Vec::new(),
            rounded: BTreeSet::new(),
            row: Vec::new(),
        };
        if !rows.advance()? {
            return Err(Place::file(file).fault(Fault::Empty));
        }
        rows.first_line = rows.line();
        rows.columns = Columns::unnamed(rows.record.len());
        if header == Header::Detect {
            rows.take_header()?;
        }
        Ok(rows)
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The next row; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&[f64]>, ImportError> {
        if !std::mem::take(&mut self.pending) && !self.advance()? {
            return Ok(None);
        }
        let (found, expected) = (self.record.len(), self.columns.count);
        if found != expected {
            let fault = Fault::Ragged { found, expected, first: self.first_line };
            return Err(Place::cell(&self.file, self.line(), found.min(expected)).fault(fault));
        }
        self.row.clear();
        for index in 0..expected {
            match number(&self.record[index]) {
                Ok(value) => self.row.push(value),
                Err(cell) => return Err(self.bad_cell(index, cell)),
            }
            if is_rounded(&self.record[index], self.row[index]) && self.rounded.insert(index) {
                let (line, column) = (self.line(), self.columns.describe(index));
                let text = shown(&self.record[index]);
                self.warnings.push(rounding(&format!("line {line}"), &column, &text, self.row[index]));
            }
        }
        Ok(Some(&self.row))
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
                    csv::ErrorKind::Io(error) => Place::line(&self.file, line).io(error),
                    // Nothing else can fail with byte records of any length.
                    _ => Place::line(&self.file, line).fault(Fault::Unreadable { reason: error.to_string() }),
                })?;
            if !read || self.record.len() > 1 || !self.record[0].trim_ascii().is_empty() {
                return Ok(read);
            }
        }
    }

    /// Uses the first line as column names if any of its cells is text, or if it counts the columns. Missing and
    /// infinite values do not count as text: they are faults of the data.
    fn take_header(&mut self) -> Result<(), ImportError> {
        let is_text = |cell: &[u8]| matches!(number(cell), Err(Cell::Text | Cell::NotUtf8));
        let line = self.first_line;
        let Some(text) = self.record.iter().position(is_text) else {
            let counts =
                self.record.iter().enumerate().all(|(k, cell)| cell.trim_ascii() == k.to_string().as_bytes());
            if counts && self.record.len() >= COUNTED {
                let what = "counts the columns from 0, so it is used as a header; if it is data, add a line of names above it";
                self.warnings.push(format!("line {line} {what}"));
                self.pending = false;
            }
            return Ok(());
        };
        let mut names = Vec::new();
        for (index, cell) in self.record.iter().enumerate() {
            let name = std::str::from_utf8(cell)
                .map_err(|_| Place::cell(&self.file, line, index).fault(Fault::Encoding))?;
            names.push(name.trim().to_owned());
        }
        if let Some(index) = self.record.iter().position(|cell| number(cell).is_ok()) {
            self.warnings.push(format!(
                "line {line} is used as a header because of `{}`, although `{}` in it is a number",
                names[text], names[index]
            ));
        }
        self.columns = Columns::named(names, |index| Place::cell(&self.file, line, index))?;
        self.pending = false;
        Ok(())
    }

    fn bad_cell(&self, index: usize, cell: Cell) -> ImportError {
        let column = self.columns.describe(index);
        let text = || shown(&self.record[index]);
        let fault = match cell {
            Cell::Empty => Fault::EmptyCell { column },
            Cell::Text => Fault::NotANumber { text: text(), column },
            Cell::NotFinite => Fault::NotFinite { text: text(), column },
            Cell::TooLarge => Fault::TooLarge { text: text(), column },
            Cell::NotUtf8 => Fault::Encoding,
        };
        Place::cell(&self.file, self.line(), index).fault(fault)
    }
}

/// A reader that fails after a given number of bytes.
struct Allowed<R> {
    reader: R,
    left: Rc<std::cell::Cell<usize>>,
}

impl<R: Read> Read for Allowed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        // Bytes read ahead with the previous line count for this one: one buffer at most.
        match self.left.get().checked_sub(read) {
            Some(left) => self.left.set(left),
            None => return Err(io::ErrorKind::FileTooLarge.into()),
        }
        Ok(read)
    }
}

/// The largest accepted absolute value: the sum of its squares over all rows is finite.
pub(crate) const LARGEST: f64 = 1e150;

/// Why a cell is not a usable number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Empty,
    Text,
    NotFinite,
    TooLarge,
    NotUtf8,
}

fn number(cell: &[u8]) -> Result<f64, Cell> {
    let cell = cell.trim_ascii();
    if cell.is_empty() {
        return Err(Cell::Empty);
    }
    let text = std::str::from_utf8(cell).map_err(|_| Cell::NotUtf8)?;
    // Missing values, as R, pandas and databases write them.
    if ["na", "n/a", "null", "none"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Err(Cell::NotFinite);
    }
    match text.parse::<f64>() {
        Ok(value) if value.abs() <= LARGEST => Ok(value),
        Ok(value) if value.is_finite() => Err(Cell::TooLarge),
        Ok(_) => Err(Cell::NotFinite),
        Err(_) => Err(Cell::Text),
    }
}

/// Integers up to this are numbers in double precision.
const WHOLE: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;

/// Whether a cell is an integer, and `value` another number.
fn is_rounded(cell: &[u8], value: f64) -> bool {
    let is_integer = || cell.trim_ascii().iter().all(|byte| byte.is_ascii_digit() || b"+-".contains(byte));
    let exact = || std::str::from_utf8(cell.trim_ascii()).ok()?.parse::<i128>().ok();
    value.abs() >= WHOLE && is_integer() && exact().is_none_or(|exact| exact != value as i128)
}

/// A warning of an integer that was rounded.
pub(crate) fn rounding(place: &str, column: &str, text: &str, value: f64) -> String {
    format!("{place}: {text} in column {column} is rounded to {value}: numbers have 53 binary digits")
}

/// A cell for an error message, at most 40 characters.
fn shown(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(cell.trim_ascii()).into_owned();
    if text.chars().count() <= 40 { text } else { text.chars().take(39).chain(['…']).collect() }
}

/// Opens a file. Its first bytes decide whether it is compressed, not its name.
fn decompress(file: &Path) -> Result<Box<dyn Read>, ImportError> {
    let error = |error: io::Error| Place::file(file).io(&error);
    let mut reader = BufReader::with_capacity(BUFFER, File::open(file).map_err(error)?);
    let compressed = reader.fill_buf().map_err(error)?.starts_with(&GZIP_MAGIC);
    if compressed {
        return Ok(Box::new(MultiGzDecoder::new(reader)));
    }
    if file.extension().is_some_and(|extension| extension == "gz") {
        let reason = "it does not begin as a gzip file does".to_owned();
        return Err(Place::file(file).fault(Fault::Gzip { reason }));
    }
    Ok(Box::new(reader))
}

/// Collects inputs and targets, row by row.
pub(crate) struct Builder {
    x: Vec<f64>,
    y: Vec<f64>,
    /// The most numbers that fit into memory.
    most: usize,
}

impl Default for Builder {
    fn default() -> Self {
        Self { x: Vec::new(), y: Vec::new(), most: memory::numbers() }
    }
}

impl Builder {
    /// Appends all rows of a file.
    pub(crate) fn append(&mut self, rows: &mut Rows, target: usize) -> Result<(), ImportError> {
        while let Some(row) = rows.next()? {
            if self.x.len() + self.y.len() + row.len() > self.most {
                let fault = Fault::TooMany { most: self.most };
                return Err(Place::line(&rows.file, rows.line()).fault(fault));
            }
            self.x.extend_from_slice(&row[..target]);
            self.x.extend_from_slice(&row[target + 1..]);
            self.y.push(row[target]);
        }
        Ok(())
    }

    pub(crate) fn into_arrays(self) -> (Array2<f64>, Array1<f64>) {
        let n = self.y.len();
        let d = self.x.len().checked_div(n).unwrap_or(0);
        let x = Array2::from_shape_vec((n, d), self.x).expect("every row has d inputs");
        (x, Array1::from(self.y))
    }
}

/// Reads a user's CSV file.
pub(crate) fn read_table(file: &Path, target: Option<&str>) -> Result<Table, ImportError> {
    let mut rows = Rows::open(file, Header::Detect)?;
    if rows.columns().count < 2 {
        let line = &rows.record[0];
        let separator =
            [';', '\t', '|', ' '].into_iter().find(|separator| line.contains(&(*separator as u8)));
        return Err(Place::line(file, rows.first_line).fault(Fault::OneColumn { separator }));
    }
    let target = rows.columns().target(file, target)?;
    let mut builder = Builder::default();
    builder.append(&mut rows, target)?;
    let (x, y) = builder.into_arrays();
    let fault = match y.len() {
        0 => Some(Fault::HeaderOnly),
        1 => Some(Fault::OneRow),
        _ => None,
    };
    if let Some(fault) = fault {
        return Err(Place::file(file).fault(fault));
    }
    let mut table = Table { name: stem(file), x, y, test_masks: Vec::new(), warnings: rows.take_warnings() };
    check_constants(&mut table, &rows.columns, target, file)?;
    Ok(table)
}

/// Refuses a constant target, and warns of constant inputs.
pub(crate) fn check_constants(
    table: &mut Table,
    columns: &Columns,
    target: usize,
    file: &Path,
) -> Result<(), ImportError> {
    if table.has_constant_target() {
        let fault = Fault::ConstantTarget { column: columns.describe(target), value: table.y[0] };
        return Err(Place::file(file).fault(fault));
    }
    for index in table.constant_inputs() {
        let value = table.x[(0, index)];
        // Inputs to the right of the target are one column further in the file.
        let column = columns.describe(index + usize::from(index >= target));
        table
            .warnings
            .push(format!("column {column} is {value} in every row; it is used, but carries no information"));
    }
    Ok(())
}

/// A file's name up to its first dot, such as `pol` of `pol.csv.gz`.
pub(crate) fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').find(|part| !part.is_empty()).unwrap_or("data").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_does_not_fit_into_memory_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("long.csv");
        std::fs::write(&file, "1,2,3\n".repeat(100)).unwrap();
        let append = |most| {
            let mut rows = Rows::open(&file, Header::Never).unwrap();
            Builder { most, ..Builder::default() }.append(&mut rows, 2)
        };
        assert!(append(300).is_ok());
        let error = append(200).unwrap_err();
        assert_eq!(
            error.to_string().split_once("long.csv").unwrap().1,
            ":67: the table has more than 200 numbers, the most that fits into memory here; remove rows or columns"
        );
    }
}
