//! Data sets in the layout of the public collection of UCI sets: a folder with `data.csv.gz` (no header, target in
//! the last column) and `test_mask.csv.gz` (column k is 1 at the test rows of split k).

use std::path::{Path, PathBuf};

use gpbench_data::locate::Found;
use gpbench_data::registry::RegistryEntry;
use gpbench_data::verify;
use gpbench_data::{Names, Table};
use gpbench_record::ReadOptions;

use crate::categories::Input;
use crate::columns::Columns;
use crate::doubts;
use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::lacking::Lacking;
use crate::parts::Parts;
use crate::reading;
use crate::rows::{Header, Rows};
use crate::text::{Builder, stem};

const DATA: &str = "data.csv.gz";
const MASK: &str = "test_mask.csv.gz";

/// Reads a set of the registry; its size must be the registered one, and another checksum is a warning.
pub(crate) fn read_registered(found: &Found, entry: &RegistryEntry) -> Result<Table, ImportError> {
    let (masks, data): (Vec<&PathBuf>, Vec<&PathBuf>) =
        found.files.iter().partition(|path| path.ends_with(MASK));
    let mut table = read(&entry.name, &data, masks.first().copied())?;
    let (expected, actual) = ((entry.n, entry.d), table.x.dim());
    if expected != actual {
        let fault = FileFault::Size { name: entry.name.clone(), expected, found: actual };
        return Err(InputPosition::file(&found.folder).fault(fault));
    }
    let checks =
        verify::verify(entry, found).map_err(|error| InputPosition::file(&found.folder).io(&error))?;
    for check in checks.iter().filter(|check| check.is_good() == Some(false)) {
        table.warnings.push(format!(
            "{} is not the registered file (its SHA-256 is {}); results may differ from those of others",
            check.path.display(),
            check.actual
        ));
    }
    Ok(table)
}

/// The files of a user's folder of this layout: its data, and its masks, which are optional.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    // A link to nowhere is an error, and not a folder without masks.
    let existing = |name: &str| Some(folder.join(name)).filter(|path| path.symlink_metadata().is_ok());
    let data = existing(DATA).ok_or_else(|| InputPosition::file(folder).fault(FileFault::NoData))?;
    Ok([data].into_iter().chain(existing(MASK)).collect())
}

/// Reads a user's folder of this layout.
pub(crate) fn read_folder(folder: &Path) -> Result<Table, ImportError> {
    let files = files(folder)?;
    let mut table = read(&stem(folder), &[&files[0]], files.get(1))?;
    let descriptions: Vec<String> = (1..=table.d()).map(|column| column.to_string()).collect();
    let describe = || (table.d() + 1).to_string();
    let doubtful = doubts::of_file(&table, describe, &descriptions);
    table.warnings.extend(doubtful);
    let columns = reading::of_numbers(&table);
    table.reading = reading::of_file(&table, columns, Default::default(), &Lacking::default());
    Ok(table)
}

/// Reads the data, in one or more files whose rows follow each other, and the masks.
fn read(name: &str, data: &[&PathBuf], mask: Option<&PathBuf>) -> Result<Table, ImportError> {
    let mut builder = Builder::default();
    let (mut columns, mut warnings): (Option<Columns>, _) = (None, Vec::new());
    let mut inputs: Vec<Input> = Vec::new();
    for file in data {
        let mut rows = Rows::open(file, Header::Never, &ReadOptions::default())?;
        let found = rows.columns().count;
        let expected = columns.get_or_insert_with(|| rows.columns().clone()).count;
        if found < 2 {
            return Err(InputPosition::line(file, 1).fault(FileFault::OneColumn { separator: None }));
        }
        if found != expected {
            return Err(InputPosition::line(file, 1).fault(FileFault::Ragged { found, expected, first: 1 }));
        }
        rows.choose(Parts::last_is_target(found));
        builder.append(&mut rows)?;
        inputs = rows.take_inputs();
        warnings.append(&mut rows.take_warnings());
    }
    let first = data.first().expect("a set has a file of data");
    let (x, y, expanded) = builder.finish(&inputs, first)?;
    if y.len() < 2 {
        return Err(InputPosition::file(first).fault(FileFault::OneRow));
    }
    let test_masks = match mask {
        Some(mask) => read_masks(mask, y.len(), first)?,
        None => Vec::new(),
    };
    let columns = columns.expect("at least one file was read");
    let target = columns.count - 1;
    let names = Names { inputs: expanded.labels, target: columns.label(target) };
    let mut table = Table { name: name.to_owned(), x, y, test_masks, names, warnings, ..Table::default() };
    let describe = || columns.describe(target);
    doubts::check_columns(&table, describe, &expanded.descriptions, first)?;
    table.warnings.extend(doubts::constant_columns(&table, describe, &expanded.descriptions));
    Ok(table)
}

/// Reads the masks: one column for each split.
fn read_masks(file: &Path, n: usize, data: &Path) -> Result<Vec<Vec<bool>>, ImportError> {
    let mut rows = Rows::open(file, Header::Never, &ReadOptions::default())?;
    let mut masks = vec![Vec::with_capacity(n); rows.columns().count];
    while let Some(row) = rows.next()? {
        let wrong = row.iter().position(|value| *value != 0.0 && *value != 1.0);
        if let Some(index) = wrong {
            let fault = FileFault::MaskValue { value: row[index] };
            return Err(InputPosition::cell(file, rows.line(), index).fault(fault));
        }
        for (mask, value) in masks.iter_mut().zip(row) {
            mask.push(*value == 1.0);
        }
    }
    let found = masks[0].len();
    if found != n {
        return Err(InputPosition::file(file).fault(FileFault::MaskRows {
            found,
            expected: n,
            data: data.to_owned(),
        }));
    }
    Ok(masks)
}
