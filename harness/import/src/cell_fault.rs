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
}
