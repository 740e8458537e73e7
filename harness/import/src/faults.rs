//! The faults of several columns, which are told at once.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;

/// The most columns whose faults are told.
const MOST: usize = 10;

/// The first fault of each column that has one.
#[derive(Debug, Default)]
pub(crate) struct ColumnFaults {
    first: BTreeMap<usize, ImportError>,
}

impl ColumnFaults {
    /// Keeps a fault if it is the first one of its column.
    pub(crate) fn add(&mut self, index: usize, fault: impl FnOnce() -> ImportError) {
        self.first.entry(index).or_insert_with(fault);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// One error of all faults, which are taken; none where there is no fault.
    pub(crate) fn take(&mut self, file: &Path) -> Result<(), ImportError> {
        let mut faults: Vec<ImportError> = std::mem::take(&mut self.first).into_values().collect();
        match faults.len() {
            0 => Ok(()),
            1 => Err(faults.remove(0)),
            columns => {
                let line = |line: Option<u64>| line.map_or(String::new(), |line| format!("line {line}: "));
                let text =
                    |ImportError { place, fault }: &ImportError| format!("{}{fault}", line(place.line));
                let told = faults.iter().take(MOST).map(text).collect();
                Err(InputPosition::file(file).fault(FileFault::Columns { columns, told }))
            }
        }
    }
}
