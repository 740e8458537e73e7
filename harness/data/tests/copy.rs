//! The binary copy is read back exactly, and damaged files are refused.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;

use gpbench_data::{FileReading, KeyColumn, Table, copy};
use ndarray::{Array, Array2, array};
use proptest::prelude::*;

fn small() -> Table {
    Table {
        name: "small".into(),
        x: array![[1.0, -0.0], [f64::MIN_POSITIVE, 1e300], [0.1, 3.0]],
        y: array![1.0, 2.0, -3.5],
        test_masks: vec![vec![true, false, false], vec![false, false, true]],
        warnings: vec!["column 2 is odd".into()],
        ..Table::default()
    }
}

#[test]
fn a_copy_is_read_back_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/folder/small.gpb");
    let digest = copy::write(&small(), &path).unwrap();
    let read = copy::read(&path).unwrap();
    assert_eq!(read, small());
    assert!(read.x[(0, 1)].is_sign_negative());
    assert_eq!(copy::sha256(&path).unwrap(), digest);
    assert_eq!(copy::read_identified(&path).unwrap(), (small(), digest));
    let header = copy::header(&path).unwrap();
    assert_eq!((header.n, header.d, header.splits), (3, 2, 2));
    assert_eq!((header.name, header.warnings), (small().name, small().warnings));
    assert_eq!(copy::training_rows_of_splits(&path).unwrap(), [2, 2]);
    let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "no temporary file remains");
}

#[test]
fn the_identity_is_that_of_the_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let digest = |table: &Table| copy::write(table, &folder.path().join("copy")).unwrap();
    let base = digest(&small());
    assert_eq!(base, digest(&Table { name: "other".into(), warnings: vec![], ..small() }));
    let mut changed = small();
    changed.y[0] = 1.5;
    assert_ne!(base, digest(&changed));
    let mut changed = small();
    changed.test_masks[0][1] = true;
    assert_ne!(base, digest(&changed));
    assert_ne!(base, digest(&Table { test_masks: vec![], ..small() }));
    // The same numbers in another shape are another set.
    let turned =
        Table { x: array![[1.0, -0.0, f64::MIN_POSITIVE]], y: array![1.0], test_masks: vec![], ..small() };
    assert_ne!(digest(&turned), base);
}

#[test]
fn keys_are_read_back_and_are_part_of_the_identity() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy");
    let with_keys = |values: Vec<f64>| Table {
        keys: vec![KeyColumn { label: "site".into(), values }],
        reading: FileReading { rows: 3, groups: vec!["a".into(), "b".into()], ..FileReading::default() },
        ..small()
    };
    let table = with_keys(vec![0.0, 1.0, 0.0]);
    let identity = copy::write(&table, &path).unwrap();
    assert_eq!(copy::read_identified(&path).unwrap(), (table.clone(), identity.clone()));
    let header = copy::header(&path).unwrap();
    assert_eq!((header.keys, header.reading), (vec!["site".to_owned()], table.reading));
    assert_ne!(copy::write(&with_keys(vec![0.0, 1.0, 1.0]), &path).unwrap(), identity);
    assert_ne!(copy::write(&small(), &path).unwrap(), identity);
    let error = copy::write(&with_keys(vec![0.0, f64::NAN, 1.0]), &path).unwrap_err().to_string();
    assert!(
        error.ends_with("column `site`, which splits refer to, has 2 finite values but the data have 3 rows")
    );
}

#[test]
fn a_view_in_another_memory_order_is_written_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy");
    let columns =
        Table { x: small().x.reversed_axes().as_standard_layout().into_owned().reversed_axes(), ..small() };
    assert!(!columns.x.is_standard_layout());
    copy::write(&columns, &path).unwrap();
    assert_eq!(copy::read(&path).unwrap(), small());
}

#[test]
fn the_identity_is_that_of_the_first_format() {
    let folder = tempfile::tempdir().unwrap();
    let digest = copy::write(&small(), &folder.path().join("copy")).unwrap();
    assert_eq!(digest.as_str(), "4dfe8a2ad4d3022ef6b2ed486e37f3734dfbb2ba3dc4a73a9ca03133ce4f9af0");
}

#[test]
fn every_flipped_bit_and_every_truncation_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy");
    copy::write(&small(), &path).unwrap();
    let good = fs::read(&path).unwrap();
    let numbers = 3 * 3 * 8 + 2;
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    for bit in 0..8 * good.len() {
        let (place, byte) = ((bit / 8) as u64, good[bit / 8]);
        file.write_all_at(&[byte ^ (1 << (bit % 8))], place).unwrap();
        assert!(copy::read(&path).is_err(), "bit {bit}");
        let described = bit / 8 < good.len() - numbers;
        assert_eq!(copy::header(&path).is_err(), described, "bit {bit}");
        assert_eq!(copy::sha256(&path).is_err(), described, "bit {bit}");
        file.write_all_at(&[byte], place).unwrap();
    }
    for length in 0..good.len() {
        fs::write(&path, &good[..length]).unwrap();
        assert!(copy::read(&path).is_err(), "{length} bytes");
        assert!(copy::header(&path).is_err(), "{length} bytes");
    }
}

#[test]
fn sizes_without_meaning_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy");
    copy::write(&small(), &path).unwrap();
    let good = fs::read(&path).unwrap();
    let refused = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).unwrap();
        for text in [copy::read(&path).unwrap_err().to_string(), copy::header(&path).unwrap_err().to_string()]
        {
            assert!(text.contains(what), "{text}");
        }
    };
    refused(&vec![0; good.len()], "its first bytes are wrong");
    for (place, value) in [(16, u64::MAX), (24, u64::MAX), (16, 1 << 61)] {
        let mut bad = good.clone();
        bad[place..place + 8].copy_from_slice(&u64::to_le_bytes(value));
        refused(&bad, "its header announces more than a file can hold");
    }
    let mut many_keys = good.clone();
    many_keys[32..40].fill(0xff);
    refused(&many_keys, "its header announces");
    let mut squares = good.clone();
    squares[16..24].copy_from_slice(&(1_u64 << 32).to_le_bytes());
    squares[24..32].copy_from_slice(&(1_u64 << 32).to_le_bytes());
    refused(&squares, "its header announces more than a file can hold");
    let mut empty = good[..104].to_vec();
    empty[12..40].fill(0);
    refused(&empty, "its header says 0 rows and 0 inputs");
    let mut old = good;
    old[8] = 1;
    refused(&old, "its format is version 1, this program reads version 3");
}

#[test]
fn errors_name_the_file_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy");
    fs::write(&path, vec![b'x'; 200]).unwrap();
    let text = copy::read(&path).unwrap_err().to_string();
    assert!(text.starts_with(&path.display().to_string()), "{text}");
    assert!(text.ends_with("its first bytes are wrong; delete it, and it will be made again"), "{text}");

    let mut nan = small();
    nan.x[(1, 0)] = f64::NAN;
    let text = copy::write(&nan, &path).unwrap_err().to_string();
    assert_eq!(
        text,
        "data set `small`: row 1, column 0 (both from 0; the target is column 2) is NaN, not a finite number"
    );
}

#[test]
fn what_is_not_a_regular_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for path in [&fifo, folder.path(), Path::new("/dev/zero")] {
        let text = copy::read(path).unwrap_err().to_string();
        assert_eq!(text, format!("{}: it is not a regular file", path.display()));
    }
}

proptest! {
    #![proptest_config(gpbench_testkit::proptest_config!(32))]

    #[test]
    fn any_size_is_read_back(n in 1_usize..40, d in 1_usize..6, splits in 0_usize..4, salt in any::<u64>()) {
        let number = |i: usize| f64::from_bits((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt);
        let finite = |i: usize| if number(i).is_finite() { number(i) } else { i as f64 };
        let table = Table {
            name: format!("n{n}"),
            x: Array2::from_shape_fn((n, d), |(r, c)| finite(r * d + c)),
            y: Array::from_shape_fn(n, |r| finite(r + 1000)),
            test_masks: (0..splits).map(|k| (0..n).map(|r| (r * 31 + k * 17 + salt as usize).is_multiple_of(3)).collect()).collect(),
            ..Table::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy");
        copy::write(&table, &path).unwrap();
        prop_assert_eq!(copy::read(&path).unwrap(), table);
    }
}
