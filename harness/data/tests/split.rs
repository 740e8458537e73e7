//! Splits: the rows, their order and their scale.

use gpbench_data::{Split, SplitError, Table, split, training_rows};
use ndarray::{Array, Array1, Array2, Axis, array};
use proptest::prelude::*;

fn table(n: usize, d: usize) -> Table {
    Table {
        name: "made".into(),
        x: Array::from_shape_fn((n, d), |(row, column)| ((row * 7 + column * 13) % 11) as f64 + row as f64),
        y: Array::from_shape_fn(n, |row| (row as f64).sin()),
        test_masks: vec![],
        warnings: vec![],
    }
}

#[test]
fn statistics_come_from_training_rows_only() {
    let table = Table {
        name: "made".into(),
        x: array![[1.0, 5.0], [3.0, 5.0], [100.0, 7.0], [5.0, 5.0]],
        y: array![2.0, 4.0, 10.0, 6.0],
        test_masks: vec![vec![false, false, true, false]],
        warnings: vec![],
    };
    let split = split(&table, 0, None, None).unwrap();
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
    let split = split(&table, 0, None, None).unwrap();
    assert_eq!(split.x_std[1], 1.0);
    assert!(split.x_train.column(1).iter().all(|&v| v == 0.0));
    assert_eq!(table.constant_inputs(), [1]);
}

#[test]
fn without_masks_a_tenth_is_drawn_by_the_split_number() {
    let table = table(95, 2);
    let first = split(&table, 0, None, None).unwrap();
    assert_eq!((first.x_train.nrows(), first.x_test.nrows()), (85, 10));
    assert_eq!(first, split(&table, 0, None, None).unwrap());
    assert_ne!(first.y_test, split(&table, 1, None, None).unwrap().y_test);
}

#[test]
fn shares_draw_disjoint_rows_for_training_and_testing_and_ignore_masks() {
    let mut table = table(50, 2);
    table.test_masks = vec![vec![true; 50]];
    let first = split(&table, 3, Some([0.64, 0.2]), None).unwrap();
    assert_eq!((first.x_train.nrows(), first.x_test.nrows()), (32, 10));
    assert_eq!(training_rows(&table, 3, Some([0.64, 0.2])), Ok(32));
    // Targets identify rows here: none is drawn twice.
    let mut seen: Vec<f64> = first.y_train.iter().chain(&first.y_test).copied().collect();
    seen.sort_by(f64::total_cmp);
    assert!(seen.windows(2).all(|pair| pair[1] - pair[0] > 1e-6));
    assert_eq!(first, split(&table, 3, Some([0.64, 0.2]), None).unwrap());
    assert_ne!(first.y_test, split(&table, 4, Some([0.64, 0.2]), None).unwrap().y_test);
    // All rows, where the shares make up the whole.
    assert_eq!(split(&table, 0, Some([0.5, 0.5]), None).unwrap().x_test.nrows(), 25);
}

#[test]
fn targets_without_their_mean_are_the_same_in_units_of_the_file() {
    let split = split(&table(40, 2), 0, None, None).unwrap();
    let shifted = split.clone().subtract_mean(0.3);
    let raw = |split: &Split| split.y_train.mapv(|y| y * split.y_std + split.y_mean);
    assert!((&shifted.y_train + 0.3 - &split.y_train).iter().all(|off| off.abs() < 1e-15));
    assert!((raw(&shifted) - raw(&split)).iter().all(|off| off.abs() < 1e-15));
    assert_eq!(shifted.x_test, split.x_test);
}

#[test]
fn a_subsample_keeps_scale_order_and_test_rows() {
    let table = table(60, 2);
    let whole = split(&table, 0, None, None).unwrap();
    let part = split(&table, 0, None, Some((20, 7))).unwrap();
    assert_eq!(part.x_train.nrows(), 20);
    assert_eq!((&part.x_mean, part.y_std), (&whole.x_mean, whole.y_std));
    assert_eq!(part.x_test, whole.x_test);
    let places: Vec<usize> = part
        .x_train
        .axis_iter(Axis(0))
        .map(|row| whole.x_train.axis_iter(Axis(0)).position(|other| other == row).unwrap())
        .collect();
    assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
    assert_ne!(part.y_train, split(&table, 0, None, Some((20, 8))).unwrap().y_train);
    assert_eq!(split(&table, 0, None, Some((54, 7))).unwrap(), whole);
}

#[test]
fn errors_say_why_a_split_is_impossible() {
    let mut masked = table(20, 1);
    masked.test_masks = vec![vec![false; 20], (0..20).map(|row| row > 0).collect()];
    let error =
        |table: &Table, number, subsample| split(table, number, None, subsample).unwrap_err().to_string();
    assert_eq!(error(&masked, 0, None), "split 0 of data set `made` has no test rows");
    assert_eq!(error(&masked, 1, None), "data set `made` leaves 1 training rows; at least 2 are needed");
    assert_eq!(error(&masked, 2, None), "data set `made` has no split 2: it has 2 splits, 0 to 1");
    assert_eq!(
        error(&table(20, 1), 0, Some((100, 0))),
        "a subsample of 100 rows was asked for, but data set `made` has 18 training rows"
    );
    let mut flat = table(20, 1);
    flat.y.fill(0.3);
    assert!(matches!(split(&flat, 0, None, None), Err(SplitError::ConstantTarget { .. })));
}

proptest! {
    #![proptest_config(gpbench_testkit::proptest_config!(256))]

    #[test]
    fn training_columns_have_mean_0_and_spread_1(n in 12_usize..80, offset in -1e6_f64..1e6, scale in 1e-3_f64..1e3) {
        let mut table = table(n, 3);
        table.x.mapv_inplace(|value| offset + scale * value);
        let split = split(&table, 3, None, None).unwrap();
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
