//! Splits that keep rows together: no unit is divided, sizes are those asked for, and blocks and times are in order.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_data::{KeyColumn, Names, SplitError, Table, split_of};
use gpbench_record::{Dataset, Fractions, ReadOptions, Source, SplitRule, TargetScaling};
use ndarray::{Array, Array2};
use proptest::prelude::*;

/// The place of a row, one of `places`.
fn place(row: usize, places: usize) -> usize {
    row % places
}

/// The time of one of `n` rows.
fn time(row: usize, n: usize) -> usize {
    row * 7 % n / 2
}

/// A table whose targets are the numbers of the rows, with a group and a time for each row. Inputs repeat: there are `places`
/// different ones.
fn table(groups: &[usize], places: usize) -> Table {
    let n = groups.len();
    let place = |row: usize| place(row, places);
    let key = |label: &str, values: Vec<f64>| KeyColumn { label: label.into(), values };
    Table {
        name: "made".into(),
        x: Array2::from_shape_fn((n, 2), |(row, axis)| ((place(row) * (axis + 3)) as f64).sin()),
        y: Array::from_shape_fn(n, |row| row as f64),
        keys: vec![
            key("site", groups.iter().map(|group| *group as f64).collect()),
            key("when", (0..n).map(|row| time(row, n) as f64).collect()),
        ],
        names: Names { inputs: vec!["lon".into(), "lat".into()], target: "y".into() },
        ..Table::default()
    }
}

fn dataset(group: Option<&str>, rule: Option<SplitRule>) -> Dataset {
    let options = ReadOptions { group: group.map(str::to_owned), ..ReadOptions::default() };
    let source = Source::File { path: "made.csv".into(), options };
    Dataset { targets: TargetScaling::Centred, rule, ..Dataset::new("made", source) }
}

fn blocks(blocks: usize) -> SplitRule {
    SplitRule::Blocks { blocks, by: vec!["lon".into(), "lat".into()] }
}

fn future(test: f64) -> SplitRule {
    SplitRule::Future { time: "when".into(), test }
}

fn rolling(blocks: usize) -> SplitRule {
    SplitRule::Rolling { time: "when".into(), blocks }
}

/// The rows for training, validation and testing.
fn rows(table: &Table, dataset: &Dataset) -> Result<[Vec<usize>; 3], SplitError> {
    let split = split_of(table, dataset, 0)?;
    let rows = |y: &ndarray::Array1<f64>| y.iter().map(|y| (y + split.y_mean).round() as usize).collect();
    Ok([&split.y_train, &split.y_validation, &split.y_test].map(rows))
}

/// The parts of a split that hold rows with each key.
fn parts_of_keys(
    parts: &[Vec<usize>; 3],
    key: impl Fn(usize) -> String,
) -> BTreeMap<String, BTreeSet<usize>> {
    let mut found: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (part, rows) in parts.iter().enumerate() {
        for row in rows {
            found.entry(key(*row)).or_default().insert(part);
        }
    }
    found
}

fn is_undivided(parts: &[Vec<usize>; 3], key: impl Fn(usize) -> String) -> bool {
    parts_of_keys(parts, key).values().all(|parts| parts.len() == 1)
}

proptest! {
    #![proptest_config(gpbench_testkit::proptest_config!(64))]

    #[test]
    fn no_split_divides_a_group(
        groups in prop::collection::vec(0_usize..12, 40..160),
        places in 20_usize..80,
        kind in 0_usize..6,
        seed in 0_u32..40,
        with_validation in any::<bool>(),
        with_group in any::<bool>(),
        is_nested in any::<bool>(),
        keep_replicates in any::<bool>(),
    ) {
        // Groups of whole places or of whole times, so that blocks and times can be divided beside them.
        let n = groups.len();
        let group = |row: usize| match kind {
            3 if is_nested => place(row, places) % 12,
            4 | 5 if is_nested => time(row, n) / 5,
            _ => groups[row],
        };
        let groups: Vec<usize> = (0..n).map(group).collect();
        let table = table(&groups, places);
        let count = groups.iter().collect::<BTreeSet<_>>().len();
        let rule = match kind {
            0 | 1 => None,
            2 => Some(SplitRule::LeaveGroupOut),
            3 => Some(blocks(4)),
            4 => Some(future(0.2)),
            _ => Some(rolling(4)),
        };
        let splits = match &rule {
            None => 40,
            Some(SplitRule::LeaveGroupOut) => count,
            Some(rule) => rule.splits().unwrap(),
        };
        let with_group = with_group || kind == 2;
        let dataset = Dataset {
            split: seed % splits as u32,
            fractions: (kind == 1).then_some(Fractions { train: 0.6, test: 0.2 }),
            validation: with_validation.then_some(0.1),
            keep_replicates,
            ..dataset(with_group.then_some("site"), rule)
        };
        // Chains of equal groups, inputs and times may leave one unit, and a first block may be all that there is to train on.
        let may_fail = keep_replicates && (with_group || kind > 3)
            || with_group && kind > 2 && !is_nested
            || kind == 5 && with_validation;
        let parts = match rows(&table, &dataset) {
            Ok(parts) => parts,
            Err(_) if may_fail => return Ok(()),
            Err(error) => panic!("{error}"),
        };
        prop_assert!(!with_group || is_undivided(&parts, |row| groups[row].to_string()), "{:?}", parts);
        let is_together = keep_replicates || kind == 3;
        prop_assert!(!is_together || is_undivided(&parts, |row| table.x.row(row).to_string()), "{:?}", parts);
        let when = |row: usize| table.keys[1].values[row].to_string();
        prop_assert!(kind < 4 || is_undivided(&parts, when), "{:?}", parts);
        let all = parts.concat();
        prop_assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "a row is in one part only");
        prop_assert!(kind == 1 || kind == 5 || all.len() == table.n());
        prop_assert_eq!(rows(&table, &dataset).unwrap(), parts);
    }

    #[test]
    fn sizes_are_those_asked_for_within_a_group(
        groups in prop::collection::vec(0_usize..25, 100..200),
        seed in any::<u32>(),
    ) {
        let table = table(&groups, 1000);
        let largest = (0..25).map(|group| groups.iter().filter(|other| **other == group).count()).max().unwrap();
        let n = table.n() as f64;
        let near = |rows: &Vec<usize>, share: f64| (rows.len() as f64 - share * n).abs() <= largest as f64 + 1.0;
        let drawn = Dataset { split: seed, validation: Some(0.1), ..dataset(Some("site"), None) };
        let [train, validation, test] = rows(&table, &drawn).unwrap();
        prop_assert!(near(&test, 0.1) && near(&validation, 0.1) && train.len() + 2 * largest + 2 >= (0.8 * n) as usize);
        let shares = Dataset { fractions: Some(Fractions { train: 0.5, test: 0.3 }), validation: None, ..drawn };
        let [train, _, test] = rows(&table, &shares).unwrap();
        prop_assert!(near(&train, 0.5) && near(&test, 0.3), "{} {}", train.len(), test.len());
    }

    #[test]
    fn rows_that_are_alone_are_drawn_as_if_there_were_no_groups(n in 20_usize..120, seed in any::<u32>()) {
        let alone: Vec<usize> = (0..n).collect();
        let table = table(&alone, 10_000);
        for fractions in [None, Some(Fractions { train: 0.5, test: 0.25 })] {
            for validation in [None, Some(0.15)] {
                let plain = Dataset { split: seed, fractions, validation, ..dataset(None, None) };
                let grouped = Dataset { split: seed, fractions, validation, ..dataset(Some("site"), None) };
                prop_assert_eq!(rows(&table, &plain).unwrap(), rows(&table, &grouped).unwrap());
                let replicates = Dataset { keep_replicates: true, ..plain };
                prop_assert_eq!(rows(&table, &replicates).unwrap(), rows(&table, &grouped).unwrap());
            }
        }
    }
}

#[test]
fn split_k_leaves_out_group_k() {
    let groups: Vec<usize> = (0..30).map(|row| [2, 0, 1][row % 3]).collect();
    let table = table(&groups, 1000);
    let of =
        |split| rows(&table, &Dataset { split, ..dataset(Some("site"), Some(SplitRule::LeaveGroupOut)) });
    for split in 0..3 {
        let [train, _, test] = of(split).unwrap();
        assert!(test.iter().all(|row| groups[*row] == split as usize) && test.len() == 10);
        assert_eq!(train.len(), 20);
    }
    assert_eq!(
        of(3).unwrap_err().to_string(),
        "data set `made` has no split 3: its rule gives 3 splits, numbered from 0; seed k takes split k, so use fewer seeds, \
         or set `index` in its `split` table"
    );
}

#[test]
fn blocks_are_contiguous_and_of_equal_size() {
    // One axis: blocks are intervals in its order.
    let table = table(&(0..100).collect::<Vec<_>>(), 10_000);
    let along = SplitRule::Blocks { blocks: 7, by: vec!["lon".into()] };
    let mut last = f64::NEG_INFINITY;
    for split in 0..7 {
        let [train, _, test] =
            rows(&table, &Dataset { split, ..dataset(None, Some(along.clone())) }).unwrap();
        assert!((14..=15).contains(&test.len()) && train.len() + test.len() == 100, "{}", test.len());
        let lon = |row: &usize| table.x[(*row, 0)];
        let (low, high) =
            test.iter().map(lon).fold((f64::INFINITY, last), |(low, high), x| (low.min(x), high.max(x)));
        assert!(low > last, "block {split} begins before the last one ends");
        last = high;
    }
    // Two axes: the blocks are boxes that do not overlap, and together they are all rows.
    let tests: Vec<Vec<usize>> = (0..10)
        .map(|split| rows(&table, &Dataset { split, ..dataset(None, Some(blocks(10))) }).unwrap()[2].clone())
        .collect();
    assert!(tests.iter().all(|test| test.len() == 10));
    let mut all = tests.concat();
    all.sort_unstable();
    assert_eq!(all, (0..100).collect::<Vec<_>>());
    let limits = |test: &Vec<usize>, axis: usize| {
        let along = || test.iter().map(|row| table.x[(*row, axis)]);
        [along().fold(f64::INFINITY, f64::min), along().fold(f64::NEG_INFINITY, f64::max)]
    };
    for (k, one) in tests.iter().enumerate() {
        for other in &tests[..k] {
            let is_apart = (0..2).any(|axis| {
                let ([low, high], [from, to]) = (limits(one, axis), limits(other, axis));
                high < from || to < low
            });
            assert!(is_apart, "blocks overlap");
        }
    }
}

#[test]
fn time_is_not_turned_round() {
    let table = table(&(0..90).collect::<Vec<_>>(), 10_000);
    let when = |row: &usize| table.keys[1].values[*row];
    let last = |rows: &[usize]| rows.iter().map(when).fold(f64::NEG_INFINITY, f64::max);
    let first = |rows: &[usize]| rows.iter().map(when).fold(f64::INFINITY, f64::min);
    let with = |rule, split| Dataset { split, validation: Some(0.1), ..dataset(None, Some(rule)) };
    let [train, validation, test] = rows(&table, &with(future(0.2), 0)).unwrap();
    assert!(last(&train) < first(&validation) && last(&validation) < first(&test));
    assert_eq!([train.len(), validation.len(), test.len()], [62, 10, 18]);
    assert!(matches!(rows(&table, &with(future(0.2), 1)), Err(SplitError::BeyondRule { available: 1, .. })));
    let mut before = 0;
    for split in 0..4 {
        let [train, validation, test] = rows(&table, &with(rolling(5), split)).unwrap();
        assert!(last(&train) < first(&validation) && last(&validation) < first(&test), "{split}");
        assert!(train.len() > before && test.len() == 18);
        before = train.len();
    }
    assert!(matches!(rows(&table, &with(rolling(5), 4)), Err(SplitError::BeyondRule { available: 4, .. })));
}

#[test]
fn too_few_groups_and_unknown_columns_are_named() {
    let table = table(&[0; 20], 1000);
    let error = |rule| rows(&table, &dataset(Some("site"), rule)).unwrap_err().to_string();
    assert_eq!(
        error(None),
        "the rows of data set `made` that stay together make 1 group, and its split needs at least 2; ask for fewer blocks, or \
         for another split"
    );
    assert!(error(Some(blocks(3))).contains("make 1 group, and its split needs at least 3"));
    let by = SplitRule::Blocks { blocks: 3, by: vec!["depth".into()] };
    assert!(error(Some(by)).contains("has no column `depth`, which its split refers to; name an input"));
}
