//! What is wrong with a row that cannot be read.
//!
//! The first cell that is no number is often not the fault: a comment, another separator or another end of lines has made it
//! one. The fault is then named by its cause.

use super::Rows;
use crate::categories;
use crate::cell::{Cell, decimal_number, shown};
use crate::cell_fault::CellFault;
use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::layout::comment;

impl Rows {
    /// Notes a bad cell of this row.
    ///
    /// # Errors
    /// If the line is no row, whatever its other cells are.
    pub(super) fn note_bad(&mut self, index: usize, cell: Cell) -> Result<(), ImportError> {
        if let Some(comment) = self.comment_before(index, cell) {
            return Err(comment);
        }
        if cell == Cell::Empty && self.separator == ' ' {
            return Err(InputPosition::line(&self.file, self.line()).fault(FileFault::Aligned));
        }
        let (place, fault) = (InputPosition::cell(&self.file, self.line(), index), self.fault(index, cell));
        self.faults.add(index, || place.fault(fault));
        Ok(())
    }

    /// Why this line has more or fewer cells than the first one.
    pub(super) fn ragged(&self) -> ImportError {
        let (found, expected, first) = (self.record.len(), self.columns.count, self.first_line);
        let of_first =
            self.first_comment.clone().filter(|_| !self.has_rows).map(|mark| self.comment(first, mark));
        if let Some(comment) = self.comment_here().or(of_first) {
            return comment;
        }
        let is_empty = |cell: &[u8]| cell.trim_ascii().is_empty();
        let fault = if self.has_carriage_return() {
            FileFault::CarriageReturns
        } else if self.separator == ' ' && self.record.iter().any(is_empty) {
            FileFault::Aligned
        } else if found == expected + 1 && self.record.get(expected).is_some_and(is_empty) {
            FileFault::TrailingSeparator { first: None }
        } else if found + 1 == expected && self.columns.lacks_name(found) {
            FileFault::TrailingSeparator { first: Some(first) }
        } else if found == expected + 1 && self.has_header && !self.has_rows {
            FileFault::RowLabels { found }
        } else {
            FileFault::Ragged { found, expected, first }
        };
        InputPosition::cell(&self.file, self.line(), found.min(expected)).fault(fault)
    }

    /// What is wrong with a cell of this row.
    fn fault(&self, index: usize, cell: Cell) -> FileFault {
        let (bytes, column) = (&self.record[index], self.columns.describe(index));
        let text = shown(bytes);
        let other = || [';', '\t', '|'].into_iter().find(|other| bytes.contains(&(*other as u8)));
        FileFault::Cell(match cell {
            Cell::Text if self.has_carriage_return() => return FileFault::CarriageReturns,
            Cell::Empty if self.is_last_for_nothing(index) => {
                return FileFault::EmptyLastColumn { column, index };
            }
            Cell::NotUtf8 => return FileFault::Encoding,
            Cell::Text => match other() {
                Some(separator) => CellFault::OtherSeparator { text, column, separator },
                None => CellFault::NotANumber { text, column },
            },
            Cell::Empty => CellFault::EmptyCell { column },
            Cell::Missing => CellFault::Missing { text, column },
            Cell::Commas if self.decimal == ',' => CellFault::Points { text, column },
            Cell::Commas => CellFault::Commas { text, column },
            Cell::Points => CellFault::Points { text, column },
            Cell::Mixed(this, that) => {
                CellFault::Mixed { text, column, this: this.words()[0], that: that.words()[1] }
            }
            Cell::Date => CellFault::Date { text, column },
            Cell::NotFinite => CellFault::NotFinite { text, column },
            Cell::TooLarge => CellFault::TooLarge { text, column },
            Cell::TooManyCategories => CellFault::TooManyCategories { column, most: categories::MOST },
            Cell::UnknownCategory => CellFault::UnknownCategory { text, column },
        })
    }

    /// The fault of a comment that a bad cell belongs to: this line is one, or the first line is, and this is the header.
    fn comment_before(&self, index: usize, cell: Cell) -> Option<ImportError> {
        if index == 0
            && let Some(comment) = self.comment_here()
        {
            return Some(comment);
        }
        let mark = self.first_comment.clone().filter(|_| self.has_header && !self.has_rows)?;
        let is_header =
            cell == Cell::Text && self.record.iter().all(|cell| decimal_number(cell, self.decimal).is_err());
        is_header.then(|| self.comment(self.first_line, mark))
    }

    /// The fault of a comment in this line.
    fn comment_here(&self) -> Option<ImportError> {
        Some(self.comment(self.line(), comment(self.record.get(0)?)?))
    }

    fn comment(&self, line: u64, mark: String) -> ImportError {
        InputPosition::line(&self.file, line).fault(FileFault::Comment { mark })
    }

    /// Whether this line has a carriage return within a cell.
    fn has_carriage_return(&self) -> bool {
        self.record.iter().any(|cell| cell.trim_ascii().contains(&b'\r'))
    }

    /// Whether a column is the last one, has no name, and has had no value so far.
    fn is_last_for_nothing(&self, index: usize) -> bool {
        let is_unnamed = self.columns.lacks_name(index) || !self.has_header;
        index + 1 == self.columns.count && is_unnamed && !self.has_rows
    }
}
