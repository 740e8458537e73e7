//! Splits: the rows, their order and their scale.

use gpbench_data::{HardlyVaries, Preparation, Split, SplitError, Table, split, synthetic, training_columns};
use gpbench_record::{Dataset, InputScaling, Source, TargetScaling};
use ndarray::{Array, Array1, Array2, Axis, array};
use proptest::prelude::*;

fn table(n: usize, d: usize) -> Table {
    Table {
        name: "made".into(),
        x: Array::from_shape_fn((n, d), |(row, column)| ((row * 7 + column * 13) % 11) as f64 + row as f64),
        y: Array::from_shape_fn(n, |row| (row as f64).sin()),
        ..Table::default()
    }
}

#[test]
fn statistics_come_from_training_rows_only() {
    let table = Table {
        name: "made".into(),
        x: array![[1.0, 5.0], [3.0, 5.0], [100.0, 7.0], [5.0, 5.0]],
        y: array![2.0, 4.0, 10.0, 6.0],
        test_masks: vec![vec![false, false, true, false]],
        ..Table::default()
    };
    let split = split(&table, 0, None, None, Preparation::default()).unwrap();
    let std = (8.0_f64 / 3.0).sqrt();
    assert_eq!(split.x_mean, array![3.0, 5.0]);
    assert!((split.x_std[0] - std).abs() < 1e-15);
    assert_eq!(split.x_std[1], 1.0, "a constant column keeps divisor 1");
    assert_eq!((split.y_mean, split.y_std), (4.0, std));
    assert_eq!(split.x_train.column(1), array![0.0, 0.0, 0.0]);
    assert!((split.x_test[(0, 0)] - 97.0 / std).abs() < 1e-13);
    assert_eq!(split.x_test[(0, 1)], 2.0, "test rows are standardised too");
    assert!((split.y_test[0] - 6.0 / std).abs() < 1e-15);
}

#[test]
fn a_constant_column_whose_mean_is_not_exact_is_still_constant() {
    let mut table = table(30, 2);
    table.x.column_mut(1).fill(0.1);
    let split = split(&table, 0, None, None, Preparation::default()).unwrap();
    assert_eq!(split.x_std[1], 1.0);
    assert!(split.x_train.column(1).iter().all(|&v| v == 0.0));
    assert_eq!(table.constant_inputs(), [1]);
}

#[test]
fn columns_that_are_constant_up_to_rounding_and_tiny_ones() {
    let mut base = table(30, 2);
    // Rounding in training and test rows: an input is 0 everywhere, and a target is refused.
    let rounded = Array1::from_shape_fn(30, |row| if row % 3 == 0 { 0.3 } else { 0.1 * 3.0 });
    base.x.column_mut(1).assign(&rounded);
    for inputs in InputScaling::ALL {
        let split = split(&base, 0, None, None, Preparation { inputs, ..Preparation::default() }).unwrap();
        assert!(split.x_train.column(1).iter().chain(split.x_test.column(1)).all(|value| *value == 0.0));
    }
    assert_eq!(base.constant_inputs(), [1]);
    for targets in TargetScaling::ALL {
        let preparation = Preparation { targets, ..Preparation::default() };
        let of = |y: Array1<f64>| split(&Table { y, ..base.clone() }, 0, None, None, preparation);
        assert!(matches!(of(rounded.clone()), Err(SplitError::ConstantTarget { .. })));
        assert!(matches!(of(&base.y * 1e-300), Err(SplitError::SmallTarget { .. })));
    }
    // Tiny targets are standardised like others, and refused where they are only centred.
    let tiny = Table { y: &base.y * 1e-170, ..base.clone() };
    let [usual, small] =
        [&base, &tiny].map(|table| split(table, 0, None, None, Preparation::default()).unwrap().y_train);
    assert!((&usual - &small).iter().all(|difference| difference.abs() < 1e-13));
    let centred = Preparation { targets: TargetScaling::Centred, ..Preparation::default() };
    let error = split(&tiny, 0, None, None, centred).unwrap_err();
    assert!(error.to_string().ends_with("rescale the column, or set `targets` to `standardised`"), "{error}");
}

#[test]
fn inputs_that_hardly_vary_in_the_training_rows_of_a_split_are_found() {
    let mut made = table(20, 4);
    let column = |inside: f64, outside: f64| {
        Array1::from_shape_fn(20, |row| if row < 10 { inside } else { outside + row as f64 })
    };
    made.x.column_mut(1).assign(&column(5.0, 0.0));
    made.x.column_mut(2).assign(&Array1::from_shape_fn(20, |row| {
        if row < 10 { 1.0 + 1e-12 * row as f64 } else { row as f64 }
    }));
    made.x.column_mut(3).fill(7.0);
    made.test_masks = [10, 18].map(|training| (0..20).map(|row| row >= training).collect()).to_vec();
    let of = |table: &Table, split, validation| {
        let source = Source::Registry { name: "made".into() };
        let dataset = Dataset { split, validation, ..Dataset::new("made", source) };
        training_columns(table, &dataset).map(|found| found.hardly_varying)
    };
    let found = [(1, HardlyVaries::Constant), (2, HardlyVaries::Nearly)];
    assert_eq!(of(&made, 0, None).unwrap(), found, "a column that is constant in all rows has been told");
    assert_eq!(of(&made, 1, None).unwrap(), []);
    assert_eq!(of(&made, 0, Some(0.1)).unwrap(), found, "validation rows are no training rows");

    made.y = column(0.5, 1.0);
    let error = of(&made, 0, None).unwrap_err();
    assert!(error.is_of_target());
    assert_eq!(
        error.to_string(),
        "the target of data set `made` is 0.5 in every training row of split 0; there is nothing to learn: choose another \
         target, split or seed"
    );
    assert!(of(&made, 1, None).is_ok() && !of(&made, 2, None).unwrap_err().is_of_target());
}

#[test]
fn without_masks_a_tenth_is_drawn_by_the_split_number() {
    let table = table(95, 2);
    let first = split(&table, 0, None, None, Preparation::default()).unwrap();
    assert_eq!((first.x_train.nrows(), first.x_test.nrows()), (85, 10));
    assert_eq!(first, split(&table, 0, None, None, Preparation::default()).unwrap());
    assert_ne!(first.y_test, split(&table, 1, None, None, Preparation::default()).unwrap().y_test);
}

#[test]
fn shares_draw_disjoint_rows_for_training_and_testing_and_ignore_masks() {
    let mut table = table(50, 2);
    table.test_masks = vec![vec![true; 50]];
    let first = split(&table, 3, Some([0.64, 0.2]), None, Preparation::default()).unwrap();
    assert_eq!((first.x_train.nrows(), first.x_test.nrows()), (32, 10));
    // Targets identify rows here: none is drawn twice.
    let mut seen: Vec<f64> = first.y_train.iter().chain(&first.y_test).copied().collect();
    seen.sort_by(f64::total_cmp);
    assert!(seen.windows(2).all(|pair| pair[1] - pair[0] > 1e-6));
    assert_eq!(first, split(&table, 3, Some([0.64, 0.2]), None, Preparation::default()).unwrap());
    assert_ne!(
        first.y_test,
        split(&table, 4, Some([0.64, 0.2]), None, Preparation::default()).unwrap().y_test
    );
    // All rows, where the shares make up the whole.
    assert_eq!(split(&table, 0, Some([0.5, 0.5]), None, Preparation::default()).unwrap().x_test.nrows(), 25);
}

#[test]
fn targets_without_their_mean_are_the_same_in_units_of_the_file() {
    let split = split(&table(40, 2), 0, None, None, Preparation::default()).unwrap();
    let shifted = split.clone().subtract_mean(0.3);
    let raw = |split: &Split| split.y_train.mapv(|y| y * split.y_std + split.y_mean);
    assert!((&shifted.y_train + 0.3 - &split.y_train).iter().all(|off| off.abs() < 1e-15));
    assert!((raw(&shifted) - raw(&split)).iter().all(|off| off.abs() < 1e-15));
    assert_eq!(shifted.x_test, split.x_test);
}

#[test]
fn a_subsample_keeps_scale_order_and_test_rows() {
    let table = table(60, 2);
    let whole = split(&table, 0, None, None, Preparation::default()).unwrap();
    let part = split(&table, 0, None, Some((20, 7)), Preparation::default()).unwrap();
    assert_eq!(part.x_train.nrows(), 20);
    assert_eq!((&part.x_mean, part.y_std), (&whole.x_mean, whole.y_std));
    assert_eq!(part.x_test, whole.x_test);
    let places: Vec<usize> = part
        .x_train
        .axis_iter(Axis(0))
        .map(|row| whole.x_train.axis_iter(Axis(0)).position(|other| other == row).unwrap())
        .collect();
    assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
    assert_ne!(part.y_train, split(&table, 0, None, Some((20, 8)), Preparation::default()).unwrap().y_train);
    assert_eq!(split(&table, 0, None, Some((54, 7)), Preparation::default()).unwrap(), whole);
}

#[test]
fn errors_say_why_a_split_is_impossible() {
    let mut masked = table(20, 1);
    masked.test_masks = vec![vec![false; 20], (0..20).map(|row| row > 0).collect()];
    let error = |table: &Table, number, subsample| {
        split(table, number, None, subsample, Preparation::default()).unwrap_err().to_string()
    };
    assert_eq!(error(&masked, 0, None), "split 0 of data set `made` has no test rows");
    assert_eq!(error(&masked, 1, None), "data set `made` leaves 1 training rows; at least 2 are needed");
    assert_eq!(error(&masked, 2, None), "data set `made` has no split 2: it has 2 splits, 0 to 1");
    assert_eq!(
        error(&table(20, 1), 0, Some((100, 0))),
        "a subsample of 100 rows was asked for, but data set `made` has 18 training rows"
    );
    let mut flat = table(20, 1);
    flat.y.fill(0.3);
    assert!(matches!(
        split(&flat, 0, None, None, Preparation::default()),
        Err(SplitError::ConstantTarget { .. })
    ));
}

proptest! {
    #![proptest_config(gpbench_testkit::proptest_config!(256))]

    #[test]
    fn training_columns_have_mean_0_and_spread_1(n in 12_usize..80, offset in -1e6_f64..1e6, scale in 1e-3_f64..1e3) {
        let mut table = table(n, 3);
        table.x.mapv_inplace(|value| offset + scale * value);
        let split = split(&table, 3, None, None, Preparation::default()).unwrap();
        let check = |values: Array1<f64>| {
            let n = values.len() as f64;
            let mean = values.sum() / n;
            let variance = values.mapv(|v| (v - mean).powi(2)).sum() / n;
            // The inputs themselves carry an error of eps |offset|, seen on the scale of `scale`.
            let tolerance = 1e-12 + 1e-14 * offset.abs() / scale;
            (mean.abs() < tolerance) && ((variance - 1.0).abs() < tolerance)
        };
        for column in split.x_train.axis_iter(Axis(1)) {
            prop_assert!(check(column.to_owned()));
        }
        prop_assert!(check(split.y_train.clone()));
        let back: Array2<f64> = &split.x_train * &split.x_std + &split.x_mean;
        prop_assert!(back.iter().all(|v| v.is_finite()));
    }
}

fn prepared(targets: TargetScaling, inputs: InputScaling, validation: Option<f64>) -> Preparation {
    Preparation { targets, inputs, validation }
}

#[test]
fn centred_targets_keep_the_units_of_the_file() {
    let table = table(40, 2);
    let standardised = split(&table, 0, None, None, Preparation::default()).unwrap();
    let preparation = prepared(TargetScaling::Centred, InputScaling::Standardised, None);
    let centred = split(&table, 0, None, None, preparation).unwrap();
    assert_eq!((centred.y_mean, centred.y_std), (standardised.y_mean, 1.0));
    assert!(centred.y_train.mean().unwrap().abs() < 1e-15);
    assert_eq!(centred.x_train, standardised.x_train);
    for (centred, standardised) in centred.y_test.iter().zip(&(standardised.y_test * standardised.y_std)) {
        assert!((centred - standardised).abs() < 1e-15);
    }
}

#[test]
fn a_box_has_the_limits_of_the_training_rows() {
    let mut table = table(40, 3);
    table.x.column_mut(2).fill(7.0);
    let preparation = prepared(TargetScaling::Standardised, InputScaling::Box, None);
    let split = split(&table, 0, None, None, preparation).unwrap();
    for column in split.x_train.axis_iter(Axis(1)).take(2) {
        let limits = |best: fn(f64, f64) -> f64| column.iter().copied().reduce(best).unwrap();
        assert_eq!((limits(f64::min), limits(f64::max)), (-1.0, 1.0));
    }
    assert!(split.x_train.column(2).iter().all(|&value| value == 0.0), "a constant column is centred");
    assert_eq!(split.x_std[2], 1.0);
}

/// Every row's target tells where it went.
fn places(split: &Split) -> [Vec<f64>; 3] {
    let units = |y: &Array1<f64>| y.iter().map(|y| (y + split.y_mean).round()).collect();
    [units(&split.y_train), units(&split.y_validation), units(&split.y_test)]
}

#[test]
fn validation_rows_come_from_those_that_shares_leave_or_from_the_training_rows() {
    let mut table = table(50, 2);
    table.y = Array::from_shape_fn(50, |row| row as f64);
    let preparation = |validation| prepared(TargetScaling::Centred, InputScaling::Standardised, validation);
    let by_shares = |validation| split(&table, 3, Some([0.64, 0.2]), None, preparation(validation));
    let (without, with) = (by_shares(None).unwrap(), by_shares(Some(0.16)).unwrap());
    assert_eq!((&without.x_train, &without.x_test), (&with.x_train, &with.x_test), "only rows that are left");
    assert_eq!(places(&with).map(|rows| rows.len()), [32, 8, 10]);
    let mut all = places(&with).concat();
    all.sort_by(f64::total_cmp);
    assert_eq!(all, (0..50).map(f64::from).collect::<Vec<_>>());

    let masked = |validation| split(&table, 3, None, None, preparation(validation));
    let (without, with) = (masked(None).unwrap(), masked(Some(0.2)).unwrap());
    let ([train, ..], [kept, validation, test]) = (places(&without), places(&with));
    assert_eq!([kept.len(), validation.len(), test.len()], [35, 10, 5]);
    assert_eq!(test, places(&without)[2]);
    let mut both = [kept, validation].concat();
    both.sort_by(f64::total_cmp);
    assert_eq!(both, train);
    assert!((with.y_train.mean().unwrap()).abs() < 1e-13, "scaled by the rows that are left for training");
    assert_eq!(with, masked(Some(0.2)).unwrap());
}

#[test]
fn drawn_sets_keep_validation_rows_too() {
    let toy = || synthetic::toy("toy-sine", 100, 20, 5).unwrap();
    let preparation = prepared(TargetScaling::Standardised, InputScaling::Standardised, Some(0.25));
    let split = toy().prepare("toy-sine", preparation, 5).unwrap();
    assert_eq!((split.y_train.len(), split.y_validation.len(), split.y_test.len()), (70, 30, 20));
    assert_eq!(toy().prepare("toy-sine", Preparation::default(), 5).unwrap(), toy().standardise());
}

#[test]
fn validation_that_leaves_nothing_is_an_error() {
    let table = table(10, 2);
    let keep = |share| prepared(TargetScaling::Standardised, InputScaling::Standardised, Some(share));
    let error = |shares, share| split(&table, 0, shares, None, keep(share)).unwrap_err();
    assert!(matches!(error(None, 0.01), SplitError::NoValidationRows { rows: 10, .. }));
    assert!(matches!(error(Some([0.8, 0.2]), 0.1), SplitError::NoValidationRows { rows: 0, .. }));
    assert!(matches!(error(None, 0.8), SplitError::TooFewRows { n: 1, .. }));
    let text = error(None, 0.01).to_string();
    assert_eq!(text, "data set `made`: a share of 0.01 of 10 rows leaves no row for validation");
}
