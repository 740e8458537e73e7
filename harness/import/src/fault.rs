//! What can be wrong with a file, and what to do.

mod words;

use std::path::PathBuf;

use gpbench_data::copy::CopyError;
use thiserror::Error;

use self::words::{
    comment, header_of_one, hint, lacking, options_of, others, room, suggestion, told, trailing,
};
use crate::cell_fault::CellFault;
use crate::error::Role;
use crate::format::OtherFormat;

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
    #[error("the line begins with `{mark}`, as comments do; {}", comment(mark))]
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
    /// A folder without data.
    #[error(
        "the folder has no data.csv.gz; give a CSV or Parquet file, or a folder with data.csv.gz (no header, the target in the \
         last column) and test_mask.csv.gz"
    )]
    NoData,
    /// The file is empty.
    #[error("the file is empty; it needs one line per row, inputs and target separated by commas")]
    Empty,
    /// There are column names and no rows.
    #[error("the file has a header and no rows; at least 2 are needed")]
    HeaderOnly,
    /// Every row lacks a value.
    #[error(
        "each of the {rows} rows lacks a value, {lacking} of them in column {column}; fill in its values, or drop the column"
    )]
    AllLeftOut {
        /// Rows of the file.
        rows: usize,
        /// The column that most rows lack.
        column: String,
        /// How many lack it.
        lacking: usize,
    },
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
    /// A cell holds no usable number.
    #[error(transparent)]
    Cell(#[from] CellFault),
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
    /// A column is needed in two forms that exclude each other.
    #[error(
        "column {column} is named as {one} and as {other}; name another column, or copy it under another name"
    )]
    TwoForms {
        /// The column.
        column: String,
        /// One form.
        one: Role,
        /// The other form.
        other: Role,
    },
    /// The time that becomes 0 is no time.
    #[error("`time_origin` is `{text}`, which is no date; write one such as 2020-01-31 or 2020-01-31 12:00")]
    TimeOrigin {
        /// It, as given.
        text: String,
    },
    /// All columns but the target are dropped.
    #[error("no input is left; drop fewer columns")]
    NoInputs,
    /// Several columns that the user names cannot be used.
    #[error("the columns that are named have {} mistakes:\n  {}", .0.len(), told(.0))]
    Named(Vec<FileFault>),
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
         `categories`, `separator`, `header` and other options of reading, or give the file itself"
    )]
    OptionsOfFolder,
    /// A file of test rows lacks columns of the file of training rows.
    #[error("{}", lacking(missing, *lacks_target, other))]
    MissingColumns {
        /// What the file of training rows calls them.
        missing: Vec<String>,
        /// Whether the target is among them.
        lacks_target: bool,
        /// The file of training rows.
        other: PathBuf,
    },
    /// One of the files of training and of test rows has a header.
    #[error("{}", header_of_one(*has_header, other))]
    HeaderOfOne {
        /// Whether this file has one.
        has_header: bool,
        /// The other file.
        other: PathBuf,
    },
    /// Files of training and of test rows have different numbers of columns, and no names to match them by.
    #[error(
        "the file has {found} columns, {} has {expected}; without headers columns are matched by their places: give both files the \
         same columns, or headers",
        other.display()
    )]
    OtherColumns {
        /// Columns of this file.
        found: usize,
        /// Columns of the other.
        expected: usize,
        /// The file of training rows.
        other: PathBuf,
    },
    /// A column holds numbers in one of the files of training and of test rows, and times in the other.
    #[error("column `{column}` holds {found} here, and {expected} in {}; write both in one form", other.display())]
    OtherKind {
        /// What the user calls it.
        column: String,
        /// What it holds in this file.
        found: String,
        /// What it holds in the other.
        expected: String,
        /// The file of training rows.
        other: PathBuf,
    },
    /// A file of test rows has none.
    #[error("the file has a header and no rows; at least one test row is needed")]
    NoTestRows,
    /// The file of test rows is that of the training rows.
    #[error("the file of test rows is that of the training rows; give another one, or omit `test`")]
    TestIsTraining,
    /// A folder has test rows of its own.
    #[error(
        "a folder with data.csv.gz has no test rows in another file; omit `test`, or give the file itself"
    )]
    TestOfFolder,
    /// Options of text are given for a Parquet file.
    #[error(
        "a Parquet file has no separator, header, decimal mark or comments; omit `separator`, `header`, `decimal` and `comment`"
    )]
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

impl FileFault {
    /// One fault of all that are wrong with the columns that a user names; none where there is none.
    pub(crate) fn of_columns(mut faults: Vec<FileFault>) -> Option<FileFault> {
        if faults.len() > 1 { Some(FileFault::Named(faults)) } else { faults.pop() }
    }
}
