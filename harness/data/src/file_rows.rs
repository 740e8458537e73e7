//! Numbers of a table's rows in the file that they come from.

use crate::table::Table;

impl Table {
    /// The numbers of test rows in the file that holds them, counted from 0 without the header; rows that are left out count.
    /// Test rows that have a file of their own (`have_own_file`) follow the training rows in the table, and are counted in
    /// theirs.
    pub fn file_rows(&self, test_rows: &[usize], have_own_file: bool) -> Vec<u64> {
        let (training, left_out) = match self.test_masks.first().filter(|_| have_own_file) {
            Some(mask) => {
                (mask.iter().filter(|is_test| !**is_test).count(), &self.reading.left_out_test_rows)
            }
            None => (0, &self.reading.left_out_rows),
        };
        // The rows of the table before each row that is left out; they grow.
        let before: Vec<u64> =
            left_out.iter().enumerate().map(|(more, row)| row.saturating_sub(more as u64)).collect();
        let file_row = |row: &usize| {
            let row = row.saturating_sub(training) as u64;
            row + before.partition_point(|before| *before <= row) as u64
        };
        test_rows.iter().map(file_row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileReading;

    #[test]
    fn rows_that_are_left_out_count() {
        let reading = FileReading {
            left_out_rows: vec![0, 2, 3, 7],
            left_out_test_rows: vec![1],
            ..FileReading::default()
        };
        let table = Table { reading, test_masks: vec![vec![false, false, true, true]], ..Table::default() };
        assert_eq!(table.file_rows(&[0, 1, 2, 3, 4], false), [1, 4, 5, 6, 8]);
        assert_eq!(table.file_rows(&[2, 3], true), [0, 2]);
        assert_eq!(Table::default().file_rows(&[3, 9], false), [3, 9]);
    }
}
