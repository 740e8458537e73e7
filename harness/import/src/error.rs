//! What can be wrong with a file, where, and what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use gpbench_data::copy::CopyError;
use thiserror::Error;

/// A fault and its place.
#[derive(Debug, Error)]
#[error("{place}: {fault}")]
pub struct ImportError {
    /// Where.
    pub place: Place,
    /// What, and what to do.
    pub fault: Fault,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// Line of a text file, or row of a Parquet file; from 1.
    pub line: Option<u64>,
    /// Cell in the line, from 1.
    pub column: Option<usize>,
}

impl Place {
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

    pub(crate) fn fault(self, fault: Fault) -> ImportError {
        ImportError { place: self, fault }
    }

    /// A failure to read, told apart by what it means for the user.
    pub(crate) fn io(self, error: &io::Error) -> ImportError {
        if error.kind() == io::ErrorKind::FileTooLarge {
            return self.fault(Fault::LongLine);
        }
        let damaged = matches!(
            error.kind(),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
        );
        let reason = error.to_string();
        self.fault(if damaged { Fault::Gzip { reason } } else { Fault::Unreadable { reason } })
    }
}

impl fmt::Display for Place {
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
pub enum Fault {
    /// Not there, or not for us.
    #[error("cannot be read: {reason}; check the path and its permissions")]
    Unreadable {
        /// The system's words.
        reason: String,
    },
    /// A compressed file that is damaged.
    #[error("cannot be decompressed: {reason}; the file is damaged or cut short, get it again")]
    Gzip {
        /// The decoder's words.
        reason: String,
    },
    /// A Parquet file that is damaged, or of a kind that is not read.
    #[error("cannot be read as Parquet: {reason}; write it again, or save it as CSV")]
    Parquet {
        /// The reader's words.
        reason: String,
    },
    /// A line that does not end, or cells in quotes that do not.
    #[error("the line does not end within 16 MiB; the file is no table, or a quotation mark is not closed")]
    LongLine,
    /// More than there is memory for.
    #[error("more than the {most} numbers that this machine has memory for; take rows or columns away")]
    TooMany {
        /// Numbers that there is memory for.
        most: usize,
    },
    /// A folder of the system's, a pipe, a device.
    #[error("this is no regular file; copy what it gives into one")]
    NotAFile,
    /// Nothing in it.
    #[error("the file is empty; it needs one line per row, inputs and target separated by commas")]
    Empty,
    /// Names and nothing else.
    #[error("the file has a header and no rows; at least 2 are needed")]
    HeaderOnly,
    /// One row has no spread.
    #[error("the file has one row; at least 2 are needed")]
    OneRow,
    /// One column cannot be input and target.
    #[error("the file has one column; it needs at least one input and a target, separated by commas{}", hint(*separator))]
    OneColumn {
        /// A character that looks like the separator.
        separator: Option<char>,
    },
    /// A line that is shorter or longer than the first.
    #[error("the line has {found} cells, line {first} has {expected}; complete it or remove it")]
    Ragged {
        /// Cells in this line.
        found: usize,
        /// Cells in the first line.
        expected: usize,
        /// Number of the first line.
        first: u64,
    },
    /// Text among numbers.
    #[error(
        "`{text}` in column {column} is not a number; encode categories as numbers or leave the column out"
    )]
    NotANumber {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
    },
    /// A missing value.
    #[error("column {column} is empty here; fill missing values in or remove the row")]
    EmptyCell {
        /// Its column.
        column: String,
    },
    /// NaN or infinity.
    #[error("column {column} is {text} here; only finite numbers can be used: fill it in or remove the row")]
    NotFinite {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
    },
    /// A number whose square is infinite, and with it every mean square and distance.
    #[error("column {column} is {text} here, too large to be squared; rescale the column or remove the row")]
    TooLarge {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
    },
    /// Bytes that are not UTF-8.
    #[error("the text is not UTF-8; save the file as UTF-8")]
    Encoding,
    /// Two columns of one name.
    #[error("the name `{name}` is also that of column {first}; give every column a name of its own")]
    DuplicateName {
        /// The name.
        name: String,
        /// The earlier column, from 1.
        first: usize,
    },
    /// A target by a name that no column has.
    #[error("there is no column `{target}` to take as target; {}", suggestion(nearest.as_deref(), columns))]
    UnknownTarget {
        /// What was asked for.
        target: String,
        /// The most similar name.
        nearest: Option<String>,
        /// All names.
        columns: Vec<String>,
    },
    /// A target by a number that no column has.
    #[error("there is no column {index} to take as target; columns are counted from 0 to {}", columns - 1)]
    TargetIndex {
        /// What was asked for.
        index: usize,
        /// How many columns there are.
        columns: usize,
    },
    /// A target for a folder, whose layout fixes it.
    #[error(
        "a folder with data.csv.gz has its target in the last column; leave `target` out, or name the file itself"
    )]
    TargetOfFolder,
    /// Nothing to learn.
    #[error("the target, column {column}, is {value} in every row; choose another target column")]
    ConstantTarget {
        /// Its column.
        column: String,
        /// The one value.
        value: f64,
    },
    /// Masks and data differ in length.
    #[error("the file has {found} rows, but {} has {expected}; get both files again from one source", data.display())]
    MaskRows {
        /// Rows of the mask file.
        found: usize,
        /// Rows of the data.
        expected: usize,
        /// The data.
        data: PathBuf,
    },
    /// A mask that is not one.
    #[error("a test mask holds 0 and 1 only, not {value}; get the file again")]
    MaskValue {
        /// The value.
        value: f64,
    },
    /// Not the set that its name promises.
    #[error("data set `{name}` should have {} rows and {} inputs, this has {} and {}; get the file again", expected.0, expected.1, found.0, found.1)]
    Size {
        /// The set.
        name: String,
        /// n and d of the registry.
        expected: (usize, usize),
        /// n and d of the file.
        found: (usize, usize),
    },
    /// A Parquet column of text, dates, lists ...
    #[error("column {column} holds values of type {kind}, not numbers; encode it as numbers or leave it out")]
    ColumnType {
        /// The column.
        column: String,
        /// Its type.
        kind: String,
    },
    /// A Parquet column of numbers in a form that is not read.
    #[error(
        "column {column} holds numbers of type {kind}, which is not read; \
         store them as float64, or save the file as CSV"
    )]
    NumberType {
        /// The column.
        column: String,
        /// Its type.
        kind: String,
    },
    /// The copy cannot be written or read back.
    #[error("{0}; the binary copy is kept in the cache: set GPBENCH_CACHE to a folder that can be written")]
    Copy(#[from] CopyError),
}

fn hint(separator: Option<char>) -> String {
    match separator {
        Some('\t') => " (it seems to use tabs)".to_owned(),
        Some(separator) => format!(" (it seems to use `{separator}`)"),
        None => String::new(),
    }
}

fn suggestion(nearest: Option<&str>, columns: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if columns.is_empty() => {
            "the file has no header, so give the target as a number counted from 0".to_owned()
        }
        None => format!("the columns are {}", columns.join(", ")),
    }
}
