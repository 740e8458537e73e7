//! Numbers of rows of the parts of a split.

use crate::{Fractions, Subsample};

/// Numbers of rows of the parts of a split, before a subsample is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitSizes {
    /// Training rows.
    pub training: usize,
    /// Rows that are withheld for the selection of a model.
    pub validation: usize,
    /// Test rows.
    pub test: usize,
}

impl SplitSizes {
    /// Parts drawn by rounded shares of `rows` rows: first the training rows, then the test rows, then the validation
    /// rows. Where the rounded shares exceed the rows, later parts get fewer.
    pub fn by_shares(rows: usize, shares: Fractions, validation: Option<f64>) -> SplitSizes {
        let training = count(shares.train, rows).min(rows);
        let test = count(shares.test, rows).min(rows - training);
        let validation = validation.map_or(0, |share| count(share, rows)).min(rows - training - test);
        SplitSizes { training, validation, test }
    }

    /// Parts of a split that leaves `training` of `rows` rows for training. Validation rows, a share of all rows, are taken
    /// from the training rows.
    pub fn of_own(rows: usize, training: usize, validation: Option<f64>) -> SplitSizes {
        let training = training.min(rows);
        let validation = validation.map_or(0, |share| count(share, rows)).min(training);
        SplitSizes { training: training - validation, validation, test: rows - training }
    }
}

fn count(share: f64, rows: usize) -> usize {
    Subsample::Fraction(share).rows(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_parts_get_the_rows_that_are_left() {
        let sizes = |rows, train, test, validation| {
            let SplitSizes { training, validation, test } =
                SplitSizes::by_shares(rows, Fractions { train, test }, validation);
            [training, test, validation]
        };
        assert_eq!(sizes(100, 0.64, 0.2, Some(0.16)), [64, 20, 16]);
        assert_eq!(sizes(5, 0.9, 0.1, None), [5, 0, 0], "4.5 is rounded to 5");
        assert_eq!(sizes(5, 0.5, 0.5, Some(0.2)), [3, 2, 0]);
    }

    #[test]
    fn validation_rows_are_taken_from_training_rows() {
        let sizes = |rows, training, validation| SplitSizes::of_own(rows, training, validation);
        assert_eq!(sizes(100, 90, Some(0.2)), SplitSizes { training: 70, validation: 20, test: 10 });
        assert_eq!(sizes(100, 90, Some(0.95)), SplitSizes { training: 0, validation: 90, test: 10 });
        assert_eq!(sizes(100, 90, None), SplitSizes { training: 90, validation: 0, test: 10 });
    }
}
