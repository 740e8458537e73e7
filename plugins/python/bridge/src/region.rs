//! Places in the arena that the child names, checked before anything is read or written there.

use std::fmt;

use crate::frame::Wrong;

/// Bytes at the beginning of the arena in which no matrix lies, so that an offset of 0 is always a mistake.
pub const FIRST: i64 = 4096;

/// A matrix in the arena: column-major, of 8-byte entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// Bytes from the arena's beginning; 0 if the matrix is empty.
    pub offset: i64,
    /// Rows.
    pub rows: i64,
    /// Columns.
    pub cols: i64,
    /// Distance between columns in entries.
    pub ld: i64,
    /// Bytes from its first entry to the end of its last one.
    bytes: i64,
}

/// Required number of rows or columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Exactly this number.
    Exactly(i64),
    /// Any number that is not negative.
    Any,
}

impl Extent {
    fn admits(self, number: i64) -> bool {
        match self {
            Extent::Exactly(wanted) => number == wanted && number >= 0,
            Extent::Any => number >= 0,
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Exactly(number) => write!(f, "{number}"),
            Extent::Any => f.write_str("any number"),
        }
    }
}

impl Region {
    /// Reads offset, rows, columns and leading dimension, in an arena of `size` bytes.
    ///
    /// # Errors
    /// Where the shape is not the required one, the offset is misaligned, or an entry lies outside of the arena.
    pub fn read(
        numbers: [i64; 4],
        rows: Extent,
        cols: Extent,
        size: i64,
        name: &str,
    ) -> Result<Region, Wrong> {
        let [offset, found_rows, found_cols, ld] = numbers;
        let wrong = |what: String| Wrong(format!("`{name}` {what}"));
        if !rows.admits(found_rows) || !cols.admits(found_cols) {
            let what = format!("is {found_rows} x {found_cols}, where {rows} x {cols} is needed");
            return Err(wrong(what));
        }
        if ld < found_rows.max(1) {
            return Err(wrong(format!("has leading dimension {ld} but {found_rows} rows")));
        }
        if found_rows == 0 || found_cols == 0 {
            return Ok(Region { offset: 0, rows: found_rows, cols: found_cols, ld, bytes: 0 });
        }
        let entries = (found_cols - 1).checked_mul(ld).and_then(|before| before.checked_add(found_rows));
        let bytes = entries.and_then(|entries| entries.checked_mul(8));
        let end = bytes.and_then(|bytes| bytes.checked_add(offset));
        match (bytes, end) {
            (Some(bytes), Some(end)) if offset >= FIRST && offset % 8 == 0 && end <= size => {
                Ok(Region { offset, rows: found_rows, cols: found_cols, ld, bytes })
            }
            _ => Err(wrong(format!(
                "of {found_rows} x {found_cols} entries at offset {offset} does not lie in the arena of {size} bytes"
            ))),
        }
    }

    /// A column of `count` entries at an offset.
    pub fn column(offset: i64, count: i64, size: i64, name: &str) -> Result<Region, Wrong> {
        Region::read([offset, count, 1, count.max(1)], Extent::Any, Extent::Any, size, name)
    }

    /// Whether the matrix has no entries.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Whether the two share a byte of the range from their first to their last entry.
    pub fn overlaps(&self, other: &Region) -> bool {
        let end = |region: &Region| region.offset + region.bytes;
        !self.is_empty() && !other.is_empty() && self.offset < end(other) && other.offset < end(self)
    }
}

/// Fails if two of these matrices share memory.
pub fn disjoint(regions: &[(&str, Region)]) -> Result<(), Wrong> {
    for (index, (name, region)) in regions.iter().enumerate() {
        if let Some((other, _)) = regions[..index].iter().find(|(_, other)| other.overlaps(region)) {
            return Err(Wrong(format!("`{name}` overlaps `{other}`")));
        }
    }
    Ok(())
}

/// Checks row or column indices, which have been copied out of the arena.
pub fn check_indices(indices: &[i64], limit: i64, name: &str) -> Result<(), Wrong> {
    match indices.iter().find(|index| !(0..limit).contains(*index)) {
        Some(index) => Err(Wrong(format!("`{name}` has the index {index}, where there are {limit}"))),
        None => Ok(()),
    }
}
