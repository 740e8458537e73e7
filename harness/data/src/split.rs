//! Training and test rows of one split, standardised.

use gpbench_gp::seed;
use ndarray::{Array1, Array2, ArrayView1, Axis};
use rand::RngExt;
use thiserror::Error;

use crate::table::Table;

/// One train/test split, standardised by its training rows.
///
/// Every column of `x`, and `y`, has mean 0 and population standard deviation 1
/// on the training rows; a constant column is centred and has divisor 1. The statistics are stored, so that
/// `y * y_std + y_mean` is in the units of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// Training inputs, n x d, row-major.
    pub x_train: Array2<f64>,
    /// Training targets, n.
    pub y_train: Array1<f64>,
    /// Test inputs, n_test x d, row-major.
    pub x_test: Array2<f64>,
    /// Test targets, n_test.
    pub y_test: Array1<f64>,
    /// Mean of each input over the training rows, d.
    pub x_mean: Array1<f64>,
    /// Divisor of each input, d.
    pub x_std: Array1<f64>,
    /// Mean of the training targets.
    pub y_mean: f64,
    /// Divisor of the targets.
    pub y_std: f64,
}

impl Split {
    /// The same rows, with `mean` (in units of the standardised targets) subtracted from every target.
    #[must_use]
    pub fn subtract_mean(mut self, mean: f64) -> Split {
        self.y_train -= mean;
        self.y_test -= mean;
        self.y_mean += mean * self.y_std;
        self
    }
}

/// Why a split is impossible.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SplitError {
    /// A number beyond the set's masks.
    #[error("data set `{name}` has no split {split}: it has {available} splits, 0 to {}", available - 1)]
    NoSuchSplit {
        /// Data set.
        name: String,
        /// Split asked for.
        split: u32,
        /// Number of splits.
        available: usize,
    },
    /// Fewer than two training rows.
    #[error("data set `{name}` leaves {n} training rows; at least 2 are needed")]
    TooFewRows {
        /// Data set.
        name: String,
        /// Training rows.
        n: usize,
    },
    /// No test rows.
    #[error("split {split} of data set `{name}` has no test rows")]
    NoTestRows {
        /// Data set.
        name: String,
        /// Split asked for.
        split: u32,
    },
    /// A subsample larger than the training set.
    #[error("a subsample of {asked} rows was asked for, but data set `{name}` has {n} training rows")]
    Subsample {
        /// Data set.
        name: String,
        /// Rows asked for.
        asked: usize,
        /// Training rows.
        n: usize,
    },
    /// All training targets are equal.
    #[error("the target of data set `{name}` is {value} in every training row; there is nothing to learn")]
    ConstantTarget {
        /// Data set.
        name: String,
        /// Its value.
        value: String,
    },
}

/// Takes split number `split` of `table`.
///
/// If the table has masks, column `split` marks the test rows. If it has none, a tenth of the rows (rounded, at
/// least one) is drawn for testing with `split` as seed. With `shares` for training and testing, masks are ignored:
/// these shares of the rows, rounded, are drawn with `split` as seed, and the other rows are not used. `subsample`
/// is a number of training rows and the seed with which they are drawn, in the order of the file; all test rows
/// stay.
///
/// The statistics are those of all training rows, also with a subsample, so that errors and hyperparameters are
/// comparable between sizes.
///
/// # Errors
/// If there is no such split, or it leaves nothing to train on, to test on or to learn.
pub fn split(
    table: &Table,
    split: u32,
    shares: Option<[f64; 2]>,
    subsample: Option<(usize, u64)>,
) -> Result<Split, SplitError> {
    let name = &table.name;
    let (train, test) = rows_of_split(table, split, shares)?;
    let too_few = |n| SplitError::TooFewRows { name: name.clone(), n };
    if train.len() < 2 {
        return Err(too_few(train.len()));
    }
    if test.is_empty() {
        return Err(SplitError::NoTestRows { name: name.clone(), split });
    }

    let x_train = table.x.select(Axis(0), &train);
    let y_train = table.y.select(Axis(0), &train);
    if is_constant(y_train.view()) {
        return Err(SplitError::ConstantTarget { name: name.clone(), value: y_train[0].to_string() });
    }
    let whole = standardise(x_train, y_train, table.x.select(Axis(0), &test), table.y.select(Axis(0), &test));

    let Some((asked, seed)) = subsample else { return Ok(whole) };
    if asked > train.len() {
        return Err(SplitError::Subsample { name: name.clone(), asked, n: train.len() });
    }
    if asked < 2 {
        return Err(too_few(asked));
    }
    let mut kept = draw(train.len(), asked, seed, "subsample");
    kept.sort_unstable();
    Ok(Split {
        x_train: whole.x_train.select(Axis(0), &kept),
        y_train: whole.y_train.select(Axis(0), &kept),
        ..whole
    })
}

/// Number of training rows of split number `split` of `table`.
///
/// # Errors
/// If there is no such split.
pub fn training_rows(table: &Table, split: u32, shares: Option<[f64; 2]>) -> Result<usize, SplitError> {
    rows_of_split(table, split, shares).map(|(train, _)| train.len())
}

/// Training and test rows of a split, each in the order of the file.
pub(crate) fn rows_of_split(
    table: &Table,
    split: u32,
    shares: Option<[f64; 2]>,
) -> Result<(Vec<usize>, Vec<usize>), SplitError> {
    let n = table.n();
    if let Some(shares) = shares {
        let [train, test] = shares.map(|share| (share * n as f64).round() as usize);
        let mut drawn = draw(n, n.min(train + test), u64::from(split), "fractions");
        let mut test = drawn.split_off(train.min(drawn.len()));
        drawn.sort_unstable();
        test.sort_unstable();
        return Ok((drawn, test));
    }
    if table.test_masks.is_empty() {
        let mut is_test = vec![false; n];
        for row in draw(n, n - drawn_training_rows(n), u64::from(split), "split") {
            is_test[row] = true;
        }
        return Ok(partition(&is_test));
    }
    match table.test_masks.get(split as usize) {
        Some(mask) => Ok(partition(mask)),
        None => Err(SplitError::NoSuchSplit {
            name: table.name.clone(),
            split,
            available: table.test_masks.len(),
        }),
    }
}

/// Training rows of a drawn split of n rows: all but a tenth, which is rounded and at least one.
pub fn drawn_training_rows(n: usize) -> usize {
    let n_test = (n as f64 / 10.0).round().max(1.0) as usize;
    n.saturating_sub(n_test)
}

fn partition(is_test: &[bool]) -> (Vec<usize>, Vec<usize>) {
    let (test, train) = (0..is_test.len()).partition(|&row| is_test[row]);
    (train, test)
}

/// Draws `count` different numbers below `n` by the first steps of a Fisher-Yates shuffle.
fn draw(n: usize, count: usize, seed: u64, purpose: &str) -> Vec<usize> {
    let mut rng = seed::stream(seed, &[purpose]);
    let mut rows: Vec<usize> = (0..n).collect();
    for place in 0..count {
        // u64 rather than usize, so that 32-bit machines draw the same rows.
        let other = rng.random_range(place as u64..n as u64) as usize;
        rows.swap(place, other);
    }
    rows.truncate(count);
    rows
}

/// Standardises by the training rows. A constant `y_train` gets divisor 1; [`split`] refuses it, and synthetic sets
/// never have it.
pub(crate) fn standardise(
    mut x_train: Array2<f64>,
    mut y_train: Array1<f64>,
    mut x_test: Array2<f64>,
    mut y_test: Array1<f64>,
) -> Split {
    let (x_mean, x_std): (Vec<f64>, Vec<f64>) = x_train.axis_iter(Axis(1)).map(mean_and_divisor).unzip();
    let (x_mean, x_std) = (Array1::from(x_mean), Array1::from(x_std));
    let (y_mean, y_std) = mean_and_divisor(y_train.view());
    for x in [&mut x_train, &mut x_test] {
        *x -= &x_mean;
        *x /= &x_std;
    }
    for y in [&mut y_train, &mut y_test] {
        y.mapv_inplace(|value| (value - y_mean) / y_std);
    }
    Split { x_train, y_train, x_test, y_test, x_mean, x_std, y_mean, y_std }
}

/// Mean and population standard deviation; 1 instead of 0 for a constant column.
///
/// A column is constant if its values are equal, not if its variance is 0: by rounding in the mean, the variance
/// could be about 1e-32, and the divisor would scale rounding errors up to 1.
fn mean_and_divisor(column: ArrayView1<f64>) -> (f64, f64) {
    if is_constant(column) {
        return (column[0], 1.0);
    }
    let n = column.len() as f64;
    let mean = column.sum() / n;
    // A second pass over the deviations corrects the rounding of the first.
    let mean = mean + column.iter().map(|value| value - mean).sum::<f64>() / n;
    let variance = column.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

fn is_constant(column: ArrayView1<f64>) -> bool {
    column.iter().all(|&value| value == column[0])
}

impl Table {
    /// Indices of the inputs with the same value in all rows, which deserve a warning.
    pub fn constant_inputs(&self) -> Vec<usize> {
        let columns = self.x.axis_iter(Axis(1)).enumerate();
        columns.filter(|(_, column)| is_constant(*column)).map(|(index, _)| index).collect()
    }

    /// Whether all targets are equal.
    pub fn has_constant_target(&self) -> bool {
        is_constant(self.y.view())
    }
}
