//! Reads a user's CSV file.

use std::path::Path;

use gpbench_data::{ColumnReading, KeyColumn, Names, Table};
use gpbench_record::ReadOptions;
use ndarray::{Array1, Array2};

use crate::categories::{Expanded, Input, expand, width};
use crate::doubts;
use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::layout;
use crate::memory;
use crate::parts::Part;
use crate::pattern::{Pattern, ReadFile};
use crate::reading;
use crate::rows::{Header, Rows};

/// Collects inputs, targets and the columns that the split refers to, row by row.
pub(crate) struct Builder {
    x: Vec<f64>,
    y: Vec<f64>,
    keys: Vec<Vec<f64>>,
    /// The most numbers that fit into memory.
    most: usize,
}

impl Default for Builder {
    fn default() -> Self {
        Self { x: Vec::new(), y: Vec::new(), keys: Vec::new(), most: memory::numbers() }
    }
}

impl Builder {
    /// Appends all rows of a file whose columns have parts.
    pub(crate) fn append(&mut self, rows: &mut Rows) -> Result<(), ImportError> {
        let parts = rows.parts().expect("the parts of columns are chosen").clone();
        let inputs: Vec<usize> = parts.inputs().collect();
        self.keys.resize_with(parts.keys().len(), Vec::new);
        while let Some(row) = rows.next()? {
            if self.x.len() + (self.y.len() + 1) * (self.keys.len() + 1) + inputs.len() > self.most {
                let fault = FileFault::TooMany { most: self.most };
                return Err(InputPosition::line(rows.file(), rows.line()).fault(fault));
            }
            self.x.extend(inputs.iter().map(|index| row[*index]));
            self.y.push(row[parts.target]);
            for (key, values) in parts.keys().iter().zip(&mut self.keys) {
                values.push(row[key.index]);
            }
        }
        Ok(())
    }

    /// What was understood of each column of a file, all of whose rows were appended.
    fn describe(&self, rows: &Rows) -> Vec<ColumnReading> {
        let parts = rows.parts().expect("the parts of columns are chosen");
        let width = parts.inputs().count();
        let mut inputs = 0;
        let of = |index: usize| {
            let key = parts.keys().iter().position(|key| key.index == index);
            match (parts.of(index), key) {
                (Part::Input | Part::Categories, _) => {
                    inputs += 1;
                    rows.describe(index, self.x.iter().skip(inputs - 1).step_by(width).copied())
                }
                (Part::Target, _) => rows.describe(index, self.y.iter().copied()),
                (_, Some(key)) => rows.describe(index, self.keys[key].iter().copied()),
                (_, None) => rows.describe(index, std::iter::empty()),
            }
        };
        (0..rows.columns().count).map(of).collect()
    }

    /// The columns that the split refers to, and the names of the groups; both are taken.
    fn take_keys(&mut self, rows: &Rows) -> (Vec<KeyColumn>, Vec<String>) {
        let parts = rows.parts().expect("the parts of columns are chosen");
        let mut groups = Vec::new();
        let keys = parts.keys().iter().zip(std::mem::take(&mut self.keys)).map(|(key, mut values)| {
            if key.is_group {
                let (names, numbers) = rows.groups(key.index);
                values.iter_mut().for_each(|code| *code = numbers[*code as usize]);
                groups = names;
            }
            KeyColumn { label: key.label.clone(), values }
        });
        let keys = keys.collect();
        (keys, groups)
    }

    /// The inputs, of shape (n, d), and the targets; each column of categories is an input for each of its values.
    pub(crate) fn finish(
        self,
        inputs: &[Input],
        file: &Path,
    ) -> Result<(Array2<f64>, Array1<f64>, Expanded), ImportError> {
        let n = self.y.len();
        if (width(inputs) + 1).saturating_mul(n) > self.most {
            return Err(InputPosition::file(file).fault(FileFault::TooMany { most: self.most }));
        }
        let x = Array2::from_shape_vec((n, inputs.len()), self.x).expect("every row has all inputs");
        let (x, expanded) = expand(x, inputs);
        Ok((x, Array1::from(self.y), expanded))
    }
}

/// Reads a user's CSV file, or one whose columns are those of another file.
pub(crate) fn read_table(
    file: &Path,
    options: &ReadOptions,
    like: Option<&Pattern<'_>>,
) -> Result<ReadFile, ImportError> {
    let header = match options.header {
        None => Header::Detect,
        Some(true) => Header::Always,
        Some(false) => Header::Never,
    };
    let mut rows = Rows::open(file, header, options)?;
    if rows.columns().count < 2 {
        let fault = layout::one_column(file, options.cell_separator(), options.comment)?;
        return Err(InputPosition::line(file, rows.first_line()).fault(fault));
    }
    let parts = Pattern::choose(like, rows.columns(), options, file)?;
    let target = parts.target;
    rows.choose_like(parts.clone(), like);
    let mut builder = Builder::default();
    builder.append(&mut rows)?;
    let columns = builder.describe(&rows);
    let (keys, groups) = builder.take_keys(&rows);
    let inputs = rows.take_inputs();
    let (x, y, expanded) = builder.finish(&inputs, file)?;
    let fault = match y.len() {
        0 if like.is_some() => rows.lacking().fault(rows.columns()).or(Some(FileFault::NoTestRows)),
        0 => rows.lacking().fault(rows.columns()).or(Some(FileFault::HeaderOnly)),
        1 if like.is_none() => Some(FileFault::OneRow),
        _ => None,
    };
    if let Some(fault) = fault {
        return Err(InputPosition::file(file).fault(fault));
    }
    let names = Names { inputs: expanded.labels, target: rows.columns().label(target) };
    let (warnings, ids) = (rows.take_warnings(), rows.take_ids());
    let mut table = Table { name: stem(file), x, y, keys, names, warnings, ..Table::default() };
    table.reading = reading::of_file(&table, columns, (groups, ids), rows.lacking());
    if let Some(pattern) = like {
        table.warnings.extend(pattern.warning(rows.columns()));
        return Ok(ReadFile::new(table, rows.columns(), &parts, inputs));
    }
    if let Some(line) = rows.first_line_of_data().filter(|_| options.header.is_none()) {
        table.warnings.extend(doubts::numeric_header(&table, target, line));
    }
    let describe = || rows.columns().describe(target);
    doubts::check_columns(&table, describe, &expanded.descriptions, file)?;
    table.warnings.extend(inputs.iter().flat_map(Input::warnings));
    table.warnings.extend(doubts::row_labels(&table, rows.columns(), &parts));
    table.warnings.extend(doubts::constant_columns(&table, describe, &expanded.descriptions));
    table.warnings.extend(doubts::of_file(&table, describe, &expanded.descriptions));
    Ok(ReadFile::new(table, rows.columns(), &parts, inputs))
}

/// A file's name up to its first dot, such as `pol` of `pol.csv.gz`.
pub(crate) fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').find(|part| !part.is_empty()).unwrap_or("data").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::Parts;

    #[test]
    fn a_table_that_does_not_fit_into_memory_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("long.csv");
        std::fs::write(&file, "1,2,3\n".repeat(100)).unwrap();
        let append = |most| {
            let mut rows = Rows::open(&file, Header::Never, &ReadOptions::default()).unwrap();
            rows.choose(Parts::last_is_target(3));
            Builder { most, ..Builder::default() }.append(&mut rows)
        };
        assert!(append(300).is_ok());
        let error = append(200).unwrap_err();
        assert_eq!(
            error.to_string().split_once("long.csv").unwrap().1,
            ":67: the table has more than 200 numbers, the most that fits into memory here; remove rows or columns"
        );
    }
}
