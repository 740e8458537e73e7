//! Faults of a file: what is wrong, where, and what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use gpbench_data::copy::CopyError;
use thiserror::Error;

use crate::format::OtherFormat;

/// A fault of a file, with its place.
#[derive(Debug, Error)]
#[error("{place}: {fault}")]
pub struct ImportError {
    /// Where it is.
    pub place: InputPosition,
    /// What is wrong, and what to do.
    pub fault: FileFault,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputPosition {
    /// The file.
    pub file: PathBuf,
    /// Line of a text file, or row of a Parquet file; from 1.
    pub line: Option<u64>,
    /// Cell in the line, from 1.
    pub column: Option<usize>,
}

impl InputPosition {
    pub(crate) fn file(file: &Path) -> Self {
        Self { file: file.to_owned(), line: None, column: None }
    }

    pub(crate) fn line(file: &Path, line: u64) -> Self {
        Self { line: Some(line), ..Self::file(file) }
    }

    /// The cell with 0-based `index` in a line.
    pub(crate) fn cell(file: &Path, line: u64, index: usize) -> Self {
        Self { column: Some(index + 1), ..Self::line(file, line) }
    }

    pub(crate) fn fault(self, fault: FileFault) -> ImportError {
        ImportError { place: self, fault }
    }

    /// The fault that an error of reading means.
    pub(crate) fn io(self, error: &io::Error) -> ImportError {
        if error.kind() == io::ErrorKind::FileTooLarge {
            return self.fault(FileFault::LongLine);
        }
        let damaged = matches!(
            error.kind(),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
        );
        let reason = error.to_string();
        self.fault(if damaged { FileFault::Gzip { reason } } else { FileFault::Unreadable { reason } })
    }
}

impl fmt::Display for InputPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        Ok(())
    }
}

/// What is wrong with a file.
#[derive(Debug, Error)]
pub enum FileFault {
    /// The file cannot be opened or read.
    #[error("cannot be read: {reason}; check the path and its permissions")]
    Unreadable {
        /// The system's message.
        reason: String,
    },
    /// A compressed file is damaged.
    #[error("cannot be decompressed: {reason}; the file is damaged or incomplete; download or copy it again")]
    Gzip {
        /// The decoder's message.
        reason: String,
    },
    /// A Parquet file is damaged or of an unsupported kind.
    #[error("cannot be read as Parquet: {reason}; write it again, or save it as CSV")]
    Parquet {
        /// The reader's message.
        reason: String,
    },
    /// A line or a quoted cell does not end.
    #[error("the line is longer than 16 MiB; the file is not a table, or a quotation mark is not closed")]
    LongLine,
    /// The table does not fit into memory.
    #[error(
        "the table has more than {most} numbers, the most that fits into memory here; remove rows or columns"
    )]
    TooMany {
        /// The most numbers that a table may hold.
        most: usize,
    },
    /// A pipe or a device.
    #[error("this is not a regular file; copy its content into one")]
    NotAFile,
    /// A file of another format.
    #[error("{0}")]
    Format(#[from] OtherFormat),
    /// Lines end with carriage returns.
    #[error(
        "lines end with a carriage return alone, as programs of old Macs write them; convert the file: \
         `tr '\\r' '\\n' < FILE > NEW`"
    )]
    CarriageReturns,
    /// A comment among the rows.
    #[error("the line begins with `{mark}`, as comments do; remove comment lines from the file")]
    Comment {
        /// What it begins with.
        mark: String,
    },
    /// Several blanks between cells.
    #[error(
        "the columns are aligned by blanks, and cells are separated by one character; convert the file: \
         `awk '{{$1=$1; print}}' OFS=, FILE > NEW`"
    )]
    Aligned,
    /// A first line `sep=;`.
    #[error("the first line only states the separator; remove it, and set `separator` to `{}`", separator.escape_default())]
    StatedSeparator {
        /// The separator.
        separator: char,
    },
    /// The file is empty.
    #[error("the file is empty; it needs one line per row, inputs and target separated by commas")]
    Empty,
    /// There are column names and no rows.
    #[error("the file has a header and no rows; at least 2 are needed")]
    HeaderOnly,
    /// There is one row, which cannot be standardised.
    #[error("the file has one row; at least 2 are needed")]
    OneRow,
    /// There is one column, which cannot be both input and target.
    #[error("the file has one column; it needs at least one input and a target, separated by commas{}", hint(*separator))]
    OneColumn {
        /// A character that looks like the separator.
        separator: Option<char>,
    },
    /// A line has more or fewer cells than the first.
    #[error("the line has {found} cells, line {first} has {expected}; complete it or remove it")]
    Ragged {
        /// Cells in this line.
        found: usize,
        /// Cells in the first line.
        expected: usize,
        /// Number of the first line.
        first: u64,
    },
    /// A line ends with a separator, and the first line does not; or the other way round.
    #[error("{}; remove the separators at the ends of lines", trailing(*first))]
    TrailingSeparator {
        /// The first line, where that alone ends with one.
        first: Option<u64>,
    },
    /// The last column is empty and has no name, because all lines end with a separator.
    #[error(
        "the lines end with a separator, so that a last column {column} is empty; remove the separators at the ends of lines, \
         or drop this column (`drop`: {index})"
    )]
    EmptyLastColumn {
        /// Its column.
        column: String,
        /// Its 0-based index.
        index: usize,
    },
    /// The rows have one cell more than the header.
    #[error(
        "the line has {found} cells, the header has one less; where the first cells are row labels, as R writes them, put a \
         name for them at the beginning of the header, and drop this column"
    )]
    RowLabels {
        /// Cells in this line.
        found: usize,
    },
    /// A cell holds another separator.
    #[error(
        "`{text}` in column {column} holds `{separator}`, which seems to separate cells: set `separator`, and write numbers \
         with a decimal point"
    )]
    OtherSeparator {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
        /// The separator that it holds.
        separator: char,
    },
    /// A cell holds a number with commas.
    #[error(
        "`{text}` in column {column} has a comma; write numbers with a decimal point, and without separators of thousands"
    )]
    Commas {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
    },
    /// A cell holds a date or a time.
    #[error(
        "`{text}` in column {column} is a date or a time; write it as a number, such as days since the first one, or name \
         the column in `drop`"
    )]
    Date {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
    },
    /// A cell holds a mark of a missing value.
    #[error("column {column} is `{text}` here, a missing value; fill in missing values or remove the row")]
    Missing {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
    },
    /// A cell holds text.
    #[error(
        "`{text}` in column {column} is not a number; correct it, or name the column in `categories` or in `drop`"
    )]
    NotANumber {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
    },
    /// A cell is empty.
    #[error("column {column} is empty here; fill in missing values or remove the row")]
    EmptyCell {
        /// Its column.
        column: String,
    },
    /// A cell holds NaN or infinity.
    #[error("column {column} is {text} here; only finite numbers are allowed; replace it or remove the row")]
    NotFinite {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
    },
    /// The square of a number overflows, and with it every distance.
    #[error("column {column} is {text} here, too large to be squared; rescale the column or remove the row")]
    TooLarge {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
    },
    /// The file is not UTF-8.
    #[error("the text is not UTF-8; save the file as UTF-8")]
    Encoding,
    /// Two columns have the same name.
    #[error("column {first} is called `{name}` too; give each column a different name")]
    DuplicateName {
        /// The name.
        name: String,
        /// The earlier column, from 1.
        first: usize,
    },
    /// No column has the name.
    #[error("the {role} `{name}` does not exist; {}", suggestion(*role, nearest.as_deref(), columns))]
    UnknownColumn {
        /// What the column is for.
        role: Role,
        /// The name as given.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
        /// All names.
        columns: Vec<String>,
    },
    /// No column has the number.
    #[error("the {role} {index} does not exist; columns are counted from 0 to {}", columns - 1)]
    ColumnIndex {
        /// What the column is for.
        role: Role,
        /// The number as given.
        index: usize,
        /// Number of columns.
        columns: usize,
    },
    /// A column has two roles.
    #[error(
        "column {column} is two of target, categories and dropped; name it in one of these only (the target is a number)"
    )]
    TwoRoles {
        /// The column.
        column: String,
    },
    /// All columns but the target are dropped.
    #[error("no input is left; drop fewer columns")]
    NoInputs,
    /// A column of categories has too many values.
    #[error(
        "column {column} has more than {most} categories; drop it if it names rows, or encode it as numbers"
    )]
    TooManyCategories {
        /// The column.
        column: String,
        /// The most values.
        most: usize,
    },
    /// Several columns have faults.
    #[error("{columns} columns cannot be read:\n  {}{}", told.join("\n  "), others(columns - told.len()))]
    Columns {
        /// How many.
        columns: usize,
        /// The first fault of each, up to a limit.
        told: Vec<String>,
    },
    /// Options are given for a folder, whose layout fixes them.
    #[error(
        "the columns of a folder with data.csv.gz are fixed, the last one is its target; omit `target`, `drop`, \
         `categories`, `separator` and `header`, or give the file itself"
    )]
    OptionsOfFolder,
    /// Options of text are given for a Parquet file.
    #[error("a Parquet file has neither separator nor header; omit `separator` and `header`")]
    OptionsOfText,
    /// The content differed after the file was read.
    #[error("the file changed while it was read; try again when it is complete")]
    Changing,
    /// The target is constant.
    #[error("the target, column {column}, is {value} in every row; choose another target column")]
    ConstantTarget {
        /// Its column.
        column: String,
        /// Its value.
        value: f64,
    },
    /// The values of a column differ by less than can be scaled in double precision.
    #[error(
        "the values of column {column} differ by less than 1e-290, too little to be scaled; multiply the column by a large \
         number, or drop it"
    )]
    TooSmall {
        /// Its column.
        column: String,
    },
    /// Masks and data have different numbers of rows.
    #[error("the file has {found} rows, but {} has {expected}; download both files again from one source", data.display())]
    MaskRows {
        /// Rows of the mask file.
        found: usize,
        /// Rows of the data.
        expected: usize,
        /// The data.
        data: PathBuf,
    },
    /// A mask holds something other than 0 and 1.
    #[error("a test mask may hold 0 and 1 only, not {value}; download the file again")]
    MaskValue {
        /// The value.
        value: f64,
    },
    /// A registered set has another size.
    #[error("data set `{name}` has {} rows and {} inputs, this file has {} and {}; download it again", expected.0, expected.1, found.0, found.1)]
    Size {
        /// The set.
        name: String,
        /// Registered n and d.
        expected: (usize, usize),
        /// n and d found.
        found: (usize, usize),
    },
    /// A Parquet column holds text, dates, lists or the like.
    #[error(
        "column {column} holds values of type {kind}, not numbers; encode it as numbers, or name the column in {}",
        options_of(kind)
    )]
    ColumnType {
        /// The column.
        column: String,
        /// Its type.
        kind: String,
    },
    /// A Parquet column holds numbers of an unsupported type.
    #[error(
        "column {column} holds numbers of type {kind}, which is not supported; \
         store them as float64, or save the file as CSV"
    )]
    NumberType {
        /// The column.
        column: String,
        /// Its type.
        kind: String,
    },
    /// The structure of the file is nested so deeply that the stack overflowed.
    #[error(
        "the structure of the file is nested too deeply; write a table of plain columns, or save it as CSV"
    )]
    TooDeep,
    /// Memory was refused.
    #[error("reading takes more memory than there is; remove rows or columns, or free memory and try again")]
    OutOfMemory,
    /// The process that reads the file cannot be started, or ended without an answer.
    #[error(
        "the process that reads the file {what}; try again where memory and processes are free, or save the \
         file as CSV"
    )]
    Subprocess {
        /// What happened to it.
        what: String,
    },
    /// A fault that another process found.
    #[error("{0}")]
    Told(String),
    /// The binary copy cannot be written or read back.
    #[error("{error}; binary copies are stored in the cache: {advice}", error = .0, advice = room(.0))]
    Copy(#[from] CopyError),
}

/// What a named column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The target.
    Target,
    /// A column of categories.
    Categories,
    /// A column that is left out.
    Dropped,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Target => "target column",
            Role::Categories => "column of categories",
            Role::Dropped => "column to drop",
        })
    }
}

fn hint(separator: Option<char>) -> String {
    match separator {
        Some('\t') => " (it seems to use tabs: set `separator` to `tab`)".to_owned(),
        Some(separator) => format!(" (it seems to use `{separator}`: set `separator`)"),
        None => String::new(),
    }
}

fn trailing(first: Option<u64>) -> String {
    match first {
        Some(first) => format!("line {first} ends with a separator, this line does not"),
        None => "the line ends with a separator, and the first line does not".to_owned(),
    }
}

/// What helps where a copy cannot be written.
fn room(error: &CopyError) -> &'static str {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    match error {
        CopyError::Io { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded) => {
            "free space on this disk, or set GPBENCH_CACHE to a folder on another one"
        }
        _ => "set GPBENCH_CACHE to a folder that can be written",
    }
}

/// The options that read a Parquet column of a type that holds no numbers.
fn options_of(kind: &str) -> &'static str {
    if matches!(kind, "text" | "category") { "`categories` or in `drop`" } else { "`drop`" }
}

fn others(columns: usize) -> String {
    match columns {
        0 => String::new(),
        1 => "\n  and one more column".to_owned(),
        more => format!("\n  and {more} more columns"),
    }
}

fn suggestion(role: Role, nearest: Option<&str>, columns: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if columns.is_empty() => {
            let what = if role == Role::Target { "the target" } else { "the column" };
            format!("the file has no header: give {what} as a number counted from 0")
        }
        None => format!("the columns are {}", columns.join(", ")),
    }
}
