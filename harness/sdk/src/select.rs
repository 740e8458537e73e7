//! A choice of rows or columns.

use std::ops::Range;

use crate::error::{Error, Result};

/// Some rows or columns of A.
#[derive(Debug, Clone)]
pub enum Select<'i> {
    /// All indices, in order.
    All,
    /// A contiguous range.
    Range(Range<usize>),
    /// The listed indices, in this order.
    These(&'i [usize]),
}

impl From<Range<usize>> for Select<'_> {
    fn from(range: Range<usize>) -> Self {
        Select::Range(range)
    }
}

impl<'i> From<&'i [usize]> for Select<'i> {
    fn from(indices: &'i [usize]) -> Self {
        Select::These(indices)
    }
}

impl<'i, const N: usize> From<&'i [usize; N]> for Select<'i> {
    fn from(indices: &'i [usize; N]) -> Self {
        Select::These(indices)
    }
}

impl Select<'_> {
    /// Number of selected indices, out of `all`.
    pub(crate) fn count(&self, all: usize) -> usize {
        match self {
            Select::All => all,
            Select::Range(range) => range.len(),
            Select::These(indices) => indices.len(),
        }
    }

    /// The indices as they cross the interface, checked.
    pub(crate) fn indices(&self, all: usize, what: &str) -> Result<Indices> {
        let list: Vec<i64> = match self {
            Select::All => return Ok(Indices { list: None, count: all }),
            Select::Range(range) => range.clone().map(|index| index as i64).collect(),
            Select::These(indices) => indices.iter().map(|&index| index as i64).collect(),
        };
        match list.iter().find(|&&index| index as u64 >= all as u64) {
            Some(index) => Err(Error::InvalidArgument(format!("{what} {index} of {all}"))),
            None => Ok(Indices { count: list.len(), list: Some(list) }),
        }
    }
}

/// Checked indices.
pub(crate) struct Indices {
    /// None for all, in order.
    list: Option<Vec<i64>>,
    count: usize,
}

impl Indices {
    /// Pointer and count; null for all. An empty list has a pointer that is not null.
    pub(crate) fn raw(&self) -> (*const i64, i64) {
        (self.list.as_ref().map_or(std::ptr::null(), |list| list.as_ptr()), self.count as i64)
    }
}
