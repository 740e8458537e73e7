//! Reads a user's CSV file.

use std::path::Path;

use gpbench_data::{Names, Table};
use gpbench_record::ReadOptions;
use ndarray::{Array1, Array2};

use crate::categories::{Expanded, Input, expand, width};
use crate::doubts;
use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::layout;
use crate::memory;
use crate::parts::Parts;
use crate::rows::{Header, Rows};

/// Collects inputs and targets, row by row.
pub(crate) struct Builder {
    x: Vec<f64>,
    y: Vec<f64>,
    /// The most numbers that fit into memory.
    most: usize,
}

impl Default for Builder {
    fn default() -> Self {
        Self { x: Vec::new(), y: Vec::new(), most: memory::numbers() }
    }
}

impl Builder {
    /// Appends all rows of a file whose columns have parts.
    pub(crate) fn append(&mut self, rows: &mut Rows) -> Result<(), ImportError> {
        let parts = rows.parts().expect("the parts of columns are chosen").clone();
        let inputs: Vec<usize> = parts.inputs().collect();
        while let Some(row) = rows.next()? {
            if self.x.len() + self.y.len() + inputs.len() + 1 > self.most {
                let fault = FileFault::TooMany { most: self.most };
                return Err(InputPosition::line(rows.file(), rows.line()).fault(fault));
            }
            self.x.extend(inputs.iter().map(|index| row[*index]));
            self.y.push(row[parts.target]);
        }
        Ok(())
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

/// Reads a user's CSV file.
pub(crate) fn read_table(file: &Path, options: &ReadOptions) -> Result<Table, ImportError> {
    let header = match options.header {
        None => Header::Detect,
        Some(true) => Header::Always,
        Some(false) => Header::Never,
    };
    let used = options.separator.unwrap_or(',');
    let mut rows = Rows::open(file, header, used)?;
    if rows.columns().count < 2 {
        let fault = layout::one_column(file, used)?;
        return Err(InputPosition::line(file, rows.first_line()).fault(fault));
    }
    let parts = Parts::choose(rows.columns(), options, file)?;
    let target = parts.target;
    rows.choose(parts.clone());
    let mut builder = Builder::default();
    builder.append(&mut rows)?;
    let inputs = rows.take_inputs();
    let (x, y, expanded) = builder.finish(&inputs, file)?;
    let fault = match y.len() {
        0 => Some(FileFault::HeaderOnly),
        1 => Some(FileFault::OneRow),
        _ => None,
    };
    if let Some(fault) = fault {
        return Err(InputPosition::file(file).fault(fault));
    }
    let names = Names { inputs: expanded.labels, target: rows.columns().label(target) };
    let mut table =
        Table { name: stem(file), x, y, test_masks: Vec::new(), names, warnings: rows.take_warnings() };
    if let Some(line) = rows.first_line_of_data().filter(|_| options.header.is_none()) {
        table.warnings.extend(doubts::numeric_header(&table, target, line));
    }
    let describe = || rows.columns().describe(target);
    doubts::check_columns(&table, describe, &expanded.descriptions, file)?;
    table.warnings.extend(inputs.iter().filter_map(Input::warning));
    table.warnings.extend(doubts::row_labels(&table, rows.columns(), &parts));
    table.warnings.extend(doubts::constant_columns(&table, describe, &expanded.descriptions));
    table.warnings.extend(doubts::of_file(&table, &expanded.descriptions));
    Ok(table)
}

/// A file's name up to its first dot, such as `pol` of `pol.csv.gz`.
pub(crate) fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').find(|part| !part.is_empty()).unwrap_or("data").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_does_not_fit_into_memory_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("long.csv");
        std::fs::write(&file, "1,2,3\n".repeat(100)).unwrap();
        let append = |most| {
            let mut rows = Rows::open(&file, Header::Never, ',').unwrap();
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
