//! Random and damaged files: each gives a table of finite numbers or an error that names its place, within bounded
//! memory.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::{Compression, write::GzEncoder};
use gpbench_import::{ImportSource, import};
use gpbench_record::ReadOptions;
use polars::prelude::{DataFrame, IntoColumn, NamedFrom, ParquetCompression, ParquetWriter, Series};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use rustix::process::{Resource, Rlimit, setrlimit};
use tempfile::TempDir;

/// Counts the tables and errors that the inputs gave.
#[derive(Default)]
struct Tally {
    tables: Cell<usize>,
    errors: Cell<usize>,
}

impl Tally {
    /// Imports a file: it must give a usable table, or an error that names the file.
    fn import(&self, file: &Path, target: Option<&str>) {
        let options = ReadOptions { target: target.map(str::to_owned), ..ReadOptions::default() };
        match import(&ImportSource::File { path: file, options: &options }) {
            Ok(table) => {
                let (n, d) = table.x.dim();
                assert!(n >= 2 && d >= 1 && table.y.len() == n);
                assert!(table.x.iter().chain(&table.y).all(|value| value.is_finite()));
                self.tables.set(self.tables.get() + 1);
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with(&*file.to_string_lossy()) && text.len() < 4000, "{text}");
                self.errors.set(self.errors.get() + 1);
            }
        }
    }

    fn say(&self, what: &str) -> (usize, usize) {
        let (tables, errors) = (self.tables.get(), self.errors.get());
        println!("{} {what}: {tables} tables, {errors} errors", tables + errors);
        (tables, errors)
    }
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(gpbench_testkit::proptest_config!(cases))
}

/// Limits memory: a larger allocation ends the test's process.
fn with_bounded_memory() {
    let limit = Some(6 << 30);
    setrlimit(Resource::As, Rlimit { current: limit, maximum: limit }).unwrap();
}

fn file(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

#[test]
fn random_text() {
    with_bounded_memory();
    let cell = prop_oneof![
        4 => any::<f64>().prop_map(|v| v.to_string()),
        4 => any::<i16>().prop_map(|v| v.to_string()),
        1 => "\\PC{0,6}",
        1 => prop::sample::select(vec![
            "", " ", "NA", "nan", "-inf", "1e400", "1e-400", "0x1p3", "1_000", "1,5", "\"", "\"\"", "\"1", "1\"2", "\u{feff}", "\0",
            "٣", "+1", "--1", ".", "e", "1e", "\r", "\n", "\r\n", "\t", ";", "#", "1 2", "true", "\u{2212}1", "1e150", "1e151",
        ]).prop_map(str::to_owned),
    ];
    let row = prop::collection::vec(cell, 1..5).prop_map(|cells| cells.join(","));
    let even = (1..4_usize).prop_flat_map(|d| {
        let row = prop::collection::vec(any::<i16>(), d + 1);
        prop::collection::vec(
            row.prop_map(|row| row.iter().map(i16::to_string).collect::<Vec<_>>().join(",")),
            0..8,
        )
    });
    let rows = prop_oneof![1 => prop::collection::vec(row, 0..8), 1 => even];
    let edit = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        prop::collection::vec(any::<u8>(), 0..4),
    );
    let (tally, (_folder, path)) = (Tally::default(), file("text.csv"));
    let input = (rows, prop::option::weighted(0.3, edit), prop::option::weighted(0.3, "[a-c0-3]{0,2}"));
    let survived = runner(4000).run(&input, |(rows, edit, target)| {
        let mut bytes = rows.join("\n").into_bytes();
        if let Some((from, to, put)) = edit {
            let (from, to) = (from.index(bytes.len() + 1), to.index(bytes.len() + 1));
            bytes.splice(from.min(to)..from.max(to), put);
        }
        fs::write(&path, &bytes).unwrap();
        tally.import(&path, target.as_deref());
        Ok(())
    });
    survived.unwrap();
    let (tables, errors) = tally.say("text files");
    assert!(tables > 300 && errors > 1000, "{tables} {errors}");
}

#[test]
fn endless_text() {
    with_bounded_memory();
    let tally = Tally::default();
    let (_folder, path) = file("text.csv.gz");
    let zip = |head: &str, block: &str| {
        let mut encoder = GzEncoder::new(File::create(&path).unwrap(), Compression::fast());
        encoder.write_all(format!("1,2\n3,4\n{head}").as_bytes()).unwrap();
        let block = block.repeat((1 << 20) / block.len());
        (0..64).for_each(|_| encoder.write_all(block.as_bytes()).unwrap());
        encoder.finish().unwrap();
    };
    // 64 MiB of a word, of an open quotation, of a number, of empty cells, of columns, of blank lines.
    for (head, block) in [("", "a"), ("\"", "\n"), ("", "1"), ("", ","), ("", "1,"), ("", "\n")] {
        zip(head, block);
        tally.import(&path, None);
    }
    // A device is not read at all.
    for device in ["/dev/zero", "/dev/urandom", "/dev/stdin"] {
        let device = Path::new(device);
        if !device.is_file() {
            tally.import(device, None);
        }
    }
    let (tables, errors) = tally.say("endless files");
    assert!(tables == 0 && errors >= 8);
}

/// A valid file of three columns.
fn parquet(path: &Path, n: usize, compression: ParquetCompression) -> Vec<u8> {
    let columns = vec![
        Series::new("a".into(), (0..n as i64).collect::<Vec<_>>()),
        Series::new("b".into(), (0..n).map(|i| 0.5 * (i % 7) as f64).collect::<Vec<_>>()),
        Series::new("y".into(), (0..n).map(|i| (i as f64).sin()).collect::<Vec<_>>()),
    ];
    let columns = columns.into_iter().map(IntoColumn::into_column).collect();
    let mut frame = DataFrame::new_infer_height(columns).unwrap();
    let writer = ParquetWriter::new(File::create(path).unwrap()).with_compression(compression);
    writer.finish(&mut frame).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn parquet_with_bytes_changed() {
    with_bounded_memory();
    let (tally, (_folder, path)) = (Tally::default(), file("table.parquet"));
    let files = [
        parquet(&path, 40, ParquetCompression::Uncompressed),
        parquet(&path, 2000, ParquetCompression::Uncompressed),
    ];
    let change = prop_oneof![
        // One byte replaced; several bytes replaced; the file cut short; bytes spliced in.
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| (at, vec![byte], true)),
        (any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 1..6))
            .prop_map(|(at, bytes)| (at, bytes, true)),
        (any::<prop::sample::Index>(), Just(vec![])).prop_map(|(at, bytes)| (at, bytes, true)),
        (any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..4))
            .prop_map(|(at, bytes)| (at, bytes, false)),
    ];
    let input = (0..files.len(), change, 0..3_u8);
    let survived = runner(3000).run(&input, |(which, (at, put, keeps_length), region)| {
        let mut bytes = files[which].clone();
        // A third of all changes each: anywhere, in the file's footer, in the header of the first page.
        let window = match region {
            0 => 0..bytes.len(),
            1 => bytes.len() - 400..bytes.len(),
            _ => 4..100,
        };
        let from = window.start + at.index(window.len());
        match (put.len(), keeps_length) {
            (0, true) => bytes.truncate(from),
            (count, true) => {
                let to = (from + count).min(bytes.len());
                bytes[from..to].copy_from_slice(&put[..to - from]);
            }
            _ => drop(bytes.splice(from..(from + 2).min(files[which].len()), put)),
        }
        fs::write(&path, &bytes).unwrap();
        tally.import(&path, None);
        Ok(())
    });
    survived.unwrap();
    let (tables, errors) = tally.say("Parquet files");
    assert!(tables > 100 && errors > 1000, "{tables} {errors}");
}

#[test]
fn seeds_of_the_fuzzer() {
    with_bounded_memory();
    for (kind, name) in [("csv", "seed.csv"), ("parquet", "seed.parquet")] {
        let tally = Tally::default();
        let (_folder, path) = file(name);
        let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(kind);
        for seed in fs::read_dir(seeds).unwrap() {
            fs::copy(seed.unwrap().path(), &path).unwrap();
            tally.import(&path, None);
        }
        let (tables, errors) = tally.say(&format!("seeds of {kind}"));
        assert!(tables + errors >= 3);
    }
}
