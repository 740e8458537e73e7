//! Faults of single cells.

use thiserror::Error;

/// Why a cell cannot be used.
#[derive(Debug, Error)]
pub enum CellFault {
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
        "`{text}` in column {column} has a comma; write numbers with a decimal point, and without separators of thousands, or \
         set `decimal` to `,`"
    )]
    Commas {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
    },
    /// A cell holds a number with points, and commas are decimal.
    #[error(
        "`{text}` in column {column} has a point or several commas, and `decimal` is a comma; write numbers without separators of \
         thousands, or omit `decimal`"
    )]
    Points {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
    },
    /// A cell holds a date or a time that cannot be read.
    #[error(
        "`{text}` in column {column} looks like a date or a time that cannot be read; write 2020-01-31, 31/01/2020 (day first), \
         2020-01-31 12:30:00 or 12:30:00, or name the column in `drop`"
    )]
    Date {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
    },
    /// Cells of a column hold values of different kinds.
    #[error(
        "`{text}` in column {column} is {this}, and the rows before it hold {that}; write all cells of the column alike, or name it \
         in `drop`"
    )]
    Mixed {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
        /// What it is.
        this: &'static str,
        /// What the rows before hold.
        that: &'static str,
    },
    /// A cell holds a mark of a missing value.
    #[error(
        "column {column} is `{text}` here, a missing value; fill in missing values, or set `missing` to `drop` to leave out such \
         rows"
    )]
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
    #[error(
        "column {column} is empty here; fill in missing values, or set `missing` to `drop` to leave out such rows"
    )]
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
    /// A test row has a category that no training row has.
    #[error(
        "`{text}` in column {column} is no category of the training rows; correct it, remove the row, or add rows with it to the \
         training rows"
    )]
    UnknownCategory {
        /// The cell.
        text: String,
        /// Its column.
        column: String,
    },
}
