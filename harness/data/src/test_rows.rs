//! Which rows of a file are the test rows of a case, and their targets.

use gpbench_record::Dataset;

use crate::split::rows_of_dataset;
use crate::split_error::SplitError;
use crate::table::Table;

/// The test rows of a case, in the order of its split, in the units of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TestRows {
    /// Their numbers in the file that holds them, counted from 0 without the header.
    pub rows: Vec<u64>,
    /// The texts that identify them; empty without a column of ids.
    pub ids: Vec<String>,
    /// Their targets.
    pub targets: Vec<f64>,
}

/// The test rows of a data set's split.
///
/// # Errors
/// If there is no such split.
pub fn test_rows(table: &Table, dataset: &Dataset) -> Result<TestRows, SplitError> {
    let rows = rows_of_dataset(table, dataset)?.test;
    let targets = rows.iter().map(|row| table.y[*row]).collect();
    let ids = rows.iter().filter_map(|row| table.reading.ids.get(*row).cloned()).collect();
    Ok(TestRows { rows: table.file_rows(&rows, dataset.test_file().is_some()), ids, targets })
}

#[cfg(test)]
mod tests {
    use gpbench_record::{ReadOptions, Source};
    use ndarray::{Array1, Array2};

    use super::*;
    use crate::{FileReading, Preparation, split};

    /// Five rows, of which the last two are test rows.
    fn table() -> Table {
        Table {
            name: "mine".into(),
            x: Array2::from_shape_fn((5, 1), |(row, _)| row as f64),
            y: Array1::from_iter((0..5).map(|row| 0.1 * f64::from(row))),
            test_masks: vec![vec![false, false, false, true, true]],
            reading: FileReading {
                ids: ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec(),
                ..FileReading::default()
            },
            ..Table::default()
        }
    }

    fn dataset(test: Option<&str>) -> Dataset {
        let options = ReadOptions { test: test.map(str::to_owned), ..ReadOptions::default() };
        Dataset::new("mine", Source::File { path: "mine.csv".into(), options })
    }

    #[test]
    fn rows_are_counted_in_the_file_that_holds_them() {
        let of = |test| test_rows(&table(), &dataset(test)).unwrap();
        assert_eq!(of(None).rows, [3, 4]);
        assert_eq!(of(Some("held-out.csv")).rows, [0, 1]);
        assert_eq!(of(None).ids, ["d", "e"]);
        assert_eq!(of(None).targets, table().y.to_vec()[3..]);
    }

    #[test]
    fn they_are_those_of_the_split() {
        let drawn = Table { test_masks: vec![], ..table() };
        for number in 0..4 {
            let dataset = Dataset { split: number, ..dataset(None) };
            let found = test_rows(&drawn, &dataset).unwrap();
            let split = split(&drawn, number, None, None, Preparation::default()).unwrap();
            let unscaled = split.y_test.mapv(|y| y * split.y_std + split.y_mean);
            assert_eq!(found.rows.len(), unscaled.len());
            assert!(unscaled.iter().zip(&found.targets).all(|(y, target)| (y - target).abs() < 1e-12));
            assert!(found.rows.iter().zip(&found.targets).all(|(row, y)| drawn.y[*row as usize] == *y));
        }
    }
}
