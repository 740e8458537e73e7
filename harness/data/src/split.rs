//! Training, validation and test rows of one split, and their scale.

use gpbench_record::{Dataset, Fractions, InputScaling, SplitSizes, TargetScaling};
use ndarray::{Array1, Array2, ArrayView1, Axis};

use crate::groups;
use crate::scale::{Scale, Spread};
use crate::split_error::SplitError;
use crate::split_rows::{SplitRows, draw, drawn_training_rows};
use crate::table::Table;

/// Smallest spread of targets that are centred and not standardised: squares of smaller numbers underflow.
const SMALLEST_CENTRED: f64 = 1e-140;

/// One train/test split, scaled by its training rows.
///
/// Every column of `x`, and `y`, has mean 0 and population standard deviation 1
/// on the training rows, unless a [`Preparation`] says otherwise; a column that is constant up to rounding is centred and has divisor 1. The
/// statistics are stored, so that `y * y_std + y_mean` is in the units of the file.
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
    /// Validation inputs, n_validation x d, row-major; no rows unless a [`Preparation`] asks for some.
    pub x_validation: Array2<f64>,
    /// Validation targets, n_validation.
    pub y_validation: Array1<f64>,
    /// Mean of each input over the training rows, or the middle of its range, d.
    pub x_mean: Array1<f64>,
    /// Divisor of each input, d.
    pub x_std: Array1<f64>,
    /// Mean of the training targets.
    pub y_mean: f64,
    /// Divisor of the targets.
    pub y_std: f64,
}

impl Split {
    /// Training rows alone, in the units in which they come.
    pub fn raw(x_train: Array2<f64>, y_train: Array1<f64>) -> Split {
        let d = x_train.ncols();
        Split {
            x_train,
            y_train,
            x_test: Array2::zeros((0, d)),
            y_test: Array1::zeros(0),
            x_validation: Array2::zeros((0, d)),
            y_validation: Array1::zeros(0),
            x_mean: Array1::zeros(d),
            x_std: Array1::ones(d),
            y_mean: 0.0,
            y_std: 1.0,
        }
    }

    /// The same rows, with `mean` (in units of the standardised targets) subtracted from every target.
    #[must_use]
    pub fn subtract_mean(mut self, mean: f64) -> Split {
        for y in [&mut self.y_train, &mut self.y_test, &mut self.y_validation] {
            *y -= mean;
        }
        self.y_mean += mean * self.y_std;
        self
    }
}

/// What becomes of the rows of a split.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Preparation {
    /// How targets are scaled.
    pub targets: TargetScaling,
    /// How inputs are scaled.
    pub inputs: InputScaling,
    /// Share of all rows that are kept for validation.
    pub validation: Option<f64>,
}

impl From<&Dataset> for Preparation {
    fn from(dataset: &Dataset) -> Preparation {
        let Dataset { targets, inputs, validation, .. } = *dataset;
        Preparation { targets, inputs, validation }
    }
}

/// Training and test rows in the units of their file.
#[derive(Debug, Clone, PartialEq)]
pub struct Unscaled {
    /// Training inputs, n x d.
    pub x_train: Array2<f64>,
    /// Training targets, n.
    pub y_train: Array1<f64>,
    /// Test inputs, n_test x d.
    pub x_test: Array2<f64>,
    /// Test targets, n_test.
    pub y_test: Array1<f64>,
}

impl Unscaled {
    /// The rows, standardised.
    pub fn standardise(self) -> Split {
        let Unscaled { x_train, y_train, x_test, y_test } = self;
        let none = (Array2::zeros((0, x_train.ncols())), Array1::zeros(0));
        scale([(x_train, y_train), none, (x_test, y_test)], Preparation::default())
    }

    /// The rows, scaled, some of the training rows kept for validation; they are drawn with `seed`.
    ///
    /// # Errors
    /// If that leaves nothing to validate by, or fewer than two training rows; `name` is the data set's in the message.
    pub fn prepare(self, name: &str, preparation: Preparation, seed: u64) -> Result<Split, SplitError> {
        let Unscaled { x_train, y_train, x_test, y_test } = self;
        let all = y_train.len() + y_test.len();
        let (train, validation) =
            hold_out(name, (0..y_train.len()).collect(), all, preparation.validation, seed)?;
        let select = |rows: &[usize]| (x_train.select(Axis(0), rows), y_train.select(Axis(0), rows));
        Ok(scale([select(&train), select(&validation), (x_test, y_test)], preparation))
    }
}

/// Takes split number `split` of `table`.
///
/// If the table has masks, column `split` marks the test rows. If it has none, a tenth of the rows (rounded, at
/// least one) is drawn for testing with `split` as seed. With `shares` for training and testing, masks are ignored:
/// these shares of the rows, rounded, are drawn with `split` as seed, and the other rows are not used. `subsample`
/// is a number of training rows and the seed with which they are drawn, in the order of the file; all test rows
/// stay. Validation rows are those that follow in the draw by shares, or else are drawn from the training rows, with
/// `split` as seed.
///
/// The statistics are those of all training rows but these, also with a subsample, so that errors and hyperparameters are
/// comparable between sizes.
///
/// # Errors
/// If there is no such split, or it leaves nothing to train on, to test on or to learn.
pub fn split(
    table: &Table,
    split: u32,
    shares: Option<[f64; 2]>,
    subsample: Option<(usize, u64)>,
    preparation: Preparation,
) -> Result<Split, SplitError> {
    let rows = rows_of_split(table, split, shares, preparation.validation)?;
    take(table, split, rows, subsample, preparation)
}

/// Takes the split of a case, as [`split()`] does, or by its rule; rows that belong together stay together. A subsample is
/// drawn with `seed`.
///
/// # Errors
/// Those of [`split()`], and where the rule has no such split or too few groups.
pub fn split_of(table: &Table, dataset: &Dataset, seed: u64) -> Result<Split, SplitError> {
    let rows = rows_of_dataset(table, dataset)?;
    let kept = dataset.subsample.map(|subsample| (subsample.rows(rows.train.len()), seed));
    take(table, dataset.split, rows, kept, dataset.into())
}

/// Scales the rows of a split, and keeps a subsample of its training rows.
fn take(
    table: &Table,
    split: u32,
    rows: SplitRows,
    subsample: Option<(usize, u64)>,
    preparation: Preparation,
) -> Result<Split, SplitError> {
    let name = &table.name;
    let SplitRows { train, validation, test } = rows;
    let too_few = |n| SplitError::TooFewRows { name: name.clone(), n };
    if train.len() < 2 {
        return Err(too_few(train.len()));
    }
    if test.is_empty() {
        return Err(SplitError::NoTestRows { name: name.clone(), split });
    }

    let [train_rows, validation, test] = [&train, &validation, &test]
        .map(|rows| (table.x.select(Axis(0), rows), table.y.select(Axis(0), rows)));
    check_target(name, split, train_rows.1.view(), preparation.targets)?;
    let whole = scale([train_rows, validation, test], preparation);

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

/// Refuses the training targets of a split that vary too little to learn from or to scale.
pub(crate) fn check_target(
    name: &str,
    split: u32,
    training: ArrayView1<'_, f64>,
    targets: TargetScaling,
) -> Result<(), SplitError> {
    let name = || name.to_owned();
    match Spread::of(training) {
        Spread::Constant => {
            Err(SplitError::ConstantTarget { name: name(), split, value: training[0].to_string() })
        }
        Spread::TooSmall => Err(SplitError::SmallTarget { name: name(), split }),
        Spread::Usable(spread) if targets == TargetScaling::Centred && spread < SMALLEST_CENTRED => {
            Err(SplitError::SmallCentredTarget { name: name(), split, spread: spread.to_string() })
        }
        Spread::Usable(_) => Ok(()),
    }
}

/// The rows of the split of a case.
pub(crate) fn rows_of_dataset(table: &Table, dataset: &Dataset) -> Result<SplitRows, SplitError> {
    let has_own_splits = !table.test_masks.is_empty() && dataset.fractions.is_none();
    if dataset.is_grouped() && (dataset.rule.is_some() || !has_own_splits) {
        return groups::rows(table, dataset);
    }
    let shares = dataset.fractions.map(|Fractions { train, test }| [train, test]);
    rows_of_split(table, dataset.split, shares, dataset.validation)
}

/// The rows of split number `split`, drawn one by one or of the set's own splits.
pub(crate) fn rows_of_split(
    table: &Table,
    split: u32,
    shares: Option<[f64; 2]>,
    validation: Option<f64>,
) -> Result<SplitRows, SplitError> {
    if let Some(shares) = shares {
        return rows_by_shares(table, split, shares, validation);
    }
    let (train, test) = train_and_test(table, split)?;
    let (train, validation) = hold_out(&table.name, train, table.n(), validation, u64::from(split))?;
    Ok(SplitRows { train, validation, test })
}

/// Rows drawn by shares: first those for training, then those for testing, then those for validation.
fn rows_by_shares(
    table: &Table,
    split: u32,
    shares: [f64; 2],
    validation: Option<f64>,
) -> Result<SplitRows, SplitError> {
    let (n, [train, test]) = (table.n(), shares);
    let sizes = SplitSizes::by_shares(n, Fractions { train, test }, validation);
    let drawn = sizes.training + sizes.test + sizes.validation;
    let mut train_rows = draw(n, drawn, u64::from(split), "fractions");
    let mut test_rows = train_rows.split_off(sizes.training);
    let mut validation_rows = test_rows.split_off(sizes.test);
    if let (Some(share), true) = (validation, validation_rows.is_empty()) {
        let rows = n - train_rows.len() - test_rows.len();
        return Err(SplitError::NoValidationRows {
            name: table.name.clone(),
            share: share.to_string(),
            rows,
        });
    }
    for rows in [&mut train_rows, &mut test_rows, &mut validation_rows] {
        rows.sort_unstable();
    }
    Ok(SplitRows { train: train_rows, validation: validation_rows, test: test_rows })
}

/// Training and test rows of the splits that come with a table, or of one that is drawn.
fn train_and_test(table: &Table, split: u32) -> Result<(Vec<usize>, Vec<usize>), SplitError> {
    let n = table.n();
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

/// Takes validation rows, a share of all `n` rows, from the training rows; both stay in the order of the file.
fn hold_out(
    name: &str,
    train: Vec<usize>,
    n: usize,
    share: Option<f64>,
    seed: u64,
) -> Result<(Vec<usize>, Vec<usize>), SplitError> {
    let Some(share) = share else { return Ok((train, Vec::new())) };
    let asked = (share * n as f64).round() as usize;
    if asked == 0 {
        return Err(SplitError::NoValidationRows {
            name: name.to_owned(),
            share: share.to_string(),
            rows: n,
        });
    }
    let left = train.len().saturating_sub(asked);
    if left < 2 {
        return Err(SplitError::TooFewRows { name: name.to_owned(), n: left });
    }
    let mut kept = vec![false; train.len()];
    for place in draw(train.len(), asked, seed, "validation") {
        kept[place] = true;
    }
    let (validation, train): (Vec<_>, Vec<_>) = train.into_iter().zip(kept).partition(|(_, kept)| *kept);
    let rows = |marked: Vec<(usize, bool)>| marked.into_iter().map(|(row, _)| row).collect();
    Ok((rows(train), rows(validation)))
}

fn partition(is_test: &[bool]) -> (Vec<usize>, Vec<usize>) {
    let (test, train) = (0..is_test.len()).partition(|&row| is_test[row]);
    (train, test)
}

/// Inputs and targets of some rows.
type Rows = (Array2<f64>, Array1<f64>);

/// Scales training, validation and test rows by the training rows. Constant training targets get divisor 1; [`split`]
/// refuses them, and synthetic sets never have them.
fn scale(mut rows: [Rows; 3], preparation: Preparation) -> Split {
    let (x_train, y_train) = &rows[0];
    let of_inputs: Vec<Scale> =
        x_train.axis_iter(Axis(1)).map(|column| Scale::of_input(column, preparation.inputs)).collect();
    let of_targets = Scale::standardising(y_train.view());
    let of_targets = match preparation.targets {
        TargetScaling::Standardised => of_targets,
        TargetScaling::Centred => of_targets.in_units_of_file(),
    };
    let x_mean: Array1<f64> = of_inputs.iter().map(|scale| scale.centre).collect();
    let x_std: Array1<f64> = of_inputs.iter().map(|scale| scale.divisor).collect();
    for (x, y) in &mut rows {
        for mut row in x.rows_mut() {
            row.iter_mut().zip(&of_inputs).for_each(|(value, scale)| *value = scale.apply(*value));
        }
        y.mapv_inplace(|value| of_targets.apply(value));
    }
    let [(x_train, y_train), (x_validation, y_validation), (x_test, y_test)] = rows;
    let Scale { centre: y_mean, divisor: y_std, .. } = of_targets;
    Split { x_train, y_train, x_test, y_test, x_validation, y_validation, x_mean, x_std, y_mean, y_std }
}
