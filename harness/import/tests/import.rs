//! Valid files, and the binary copies made of them.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::{Compression, write::GzEncoder};
use gpbench_data::locate::{self, SearchPlaces};
use gpbench_data::registry::{self, RegistryEntry};
use gpbench_data::{Preparation, Table, copy, split};
use gpbench_import::{FileFault, ImportSource, import, materialise};
use gpbench_record::{Missing, ReadOptions};
use ndarray::array;
use polars::prelude::{DataFrame, IntoColumn, NamedFrom, ParquetWriter, Series};
use tempfile::TempDir;

fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    (folder, path)
}

fn read(name: &str, content: impl AsRef<[u8]>, target: Option<&str>) -> Table {
    read_with(name, content, &with_target(target))
}

fn with_target(target: Option<&str>) -> ReadOptions {
    ReadOptions { target: target.map(str::to_owned), ..ReadOptions::default() }
}

fn read_with(name: &str, content: impl AsRef<[u8]>, options: &ReadOptions) -> Table {
    let (_folder, path) = file(name, content);
    import(&ImportSource::File { path: &path, options }).unwrap()
}

fn gzip(content: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_header_is_seen_and_the_target_chosen() {
    let content = "a,b,y\n1,2,3\n-4e-1, 5 ,\"6\"\n";
    let table = read("my.csv", content, None);
    assert_eq!((table.name.as_str(), &table.warnings), ("my", &vec![]));
    assert_eq!((table.x, table.y), (array![[1.0, 2.0], [-0.4, 5.0]], array![3.0, 6.0]));
    for target in ["a", "0"] {
        let table = read("my.csv", content, Some(target));
        assert_eq!((table.x, table.y), (array![[2.0, 3.0], [5.0, 6.0]], array![1.0, -0.4]));
    }
    let table = read("my.csv", "1,2\r\n3,4\r\n5,6", Some("0"));
    assert_eq!((table.x, table.y), (array![[2.0], [4.0], [6.0]], array![1.0, 3.0, 5.0]));
}

#[test]
fn byte_order_marks_and_compression_are_read() {
    let table = read("my.csv", "\u{feff}a,y\n1,2\n3,4\n", Some("a"));
    assert_eq!(table.y, array![1.0, 3.0]);
    let table = read("my.data.csv.gz", gzip("1,2\n3,4\n"), None);
    assert_eq!((table.name.as_str(), table.y), ("my", array![2.0, 4.0]));
}

#[test]
fn a_line_that_counts_the_columns_is_a_header() {
    let table = read("pandas.csv", "0,1,2\n1,2,3\n4,5,6\n", Some("2"));
    assert_eq!((table.x, table.y), (array![[1.0, 2.0], [4.0, 5.0]], array![3.0, 6.0]));
    assert!(table.warnings[0].starts_with("line 1 counts the columns from 0"), "{:?}", table.warnings);
    // Two columns, or another order, may well be data.
    assert_eq!(read("pair.csv", "0,1\n1,2\n", None).y, array![1.0, 2.0]);
    assert_eq!(read("data.csv", "1,2,3\n4,5,6\n", None).y, array![3.0, 6.0]);
}

#[test]
fn integers_that_are_rounded_are_told_once_a_column() {
    let table = read("ids.csv", "id,y\n9007199254740993,1\n9007199254740995,2\n17,1e20\n", None);
    let warning = "line 2: 9007199254740993 in column 1 (`id`) is rounded to 9007199254740992: numbers have 53 binary digits";
    assert_eq!(table.warnings, [warning]);

    let (folder, _) = file("empty", "");
    let path = folder.path().join("ids.parquet");
    let columns = vec![
        Series::new("id".into(), [4i64, 9_007_199_254_740_993]).into_column(),
        Series::new("big".into(), [u64::MAX, 1]).into_column(),
        Series::new("y".into(), [1.0, 2.0]).into_column(),
    ];
    let mut frame = DataFrame::new(2, columns).unwrap();
    ParquetWriter::new(File::create(&path).unwrap()).finish(&mut frame).unwrap();
    let table = import(&ImportSource::File { path: &path, options: &with_target(Some("y")) }).unwrap();
    assert_eq!(table.warnings.len(), 2, "{:?}", table.warnings);
    assert!(
        table.warnings[0].starts_with("row 2: 9007199254740993 in column 1 (`id`)"),
        "{:?}",
        table.warnings
    );
    assert!(
        table.warnings[1].starts_with("row 1: 18446744073709551615 in column 2 (`big`)"),
        "{:?}",
        table.warnings
    );
}

#[test]
fn unusual_but_usable_files_warn() {
    let table = read("my.csv", "y,k,a\n1,5,2\n3,5,4\n", Some("y"));
    assert_eq!(table.warnings, ["column 2 (`k`) is 5 in every row; it is used, but carries no information"]);
    let table = read("my.csv", "a,2019\n1,2\n3,4\n", None);
    assert_eq!(
        table.warnings,
        ["line 1 is used as a header because of `a`, although `2019` in it is a number"]
    );
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn columns_are_dropped_and_categories_become_inputs() {
    let content = "id;colour;size;price;note\n7;red;0.5;1;a\n8;blue;1.5;2;b\n9;red;2.5;4;c\n";
    let options = ReadOptions {
        target: Some("price".to_owned()),
        drop: words(&["id", "4"]),
        categories: words(&["colour"]),
        separator: Some(';'),
        ..ReadOptions::default()
    };
    let table = read_with("my.csv", content, &options);
    assert_eq!(table.names.inputs, ["colour=blue", "colour=red", "size"]);
    assert_eq!(table.names.target, "price");
    assert_eq!(table.x, array![[0.0, 1.0, 0.5], [1.0, 0.0, 1.5], [0.0, 1.0, 2.5]]);
    assert_eq!((table.y, table.warnings), (array![1.0, 2.0, 4.0], vec![]));
    // Without a target, the last column that is left is it.
    let table = read_with("my.csv", content, &ReadOptions { target: None, ..options });
    assert_eq!(table.names.target, "price");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.parquet");
    let columns = vec![
        Series::new("colour".into(), ["red", "blue", "red"]),
        Series::new("y".into(), [1.0, 2.0, 4.0]),
        Series::new("level".into(), [10, 9, 10]),
        Series::new("name".into(), ["a", "b", "c"]),
    ];
    parquet(&path, columns);
    let options = ReadOptions {
        drop: words(&["name"]),
        categories: words(&["colour", "level"]),
        ..with_target(Some("y"))
    };
    let table = import(&ImportSource::File { path: &path, options: &options }).unwrap();
    assert_eq!(table.names.inputs, ["colour=blue", "colour=red", "level=10", "level=9"]);
    assert_eq!(table.x, array![[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]]);
    assert_eq!(table.y, array![1.0, 2.0, 4.0]);
    let error = import(&ImportSource::File { path: &path, options: &with_target(Some("y")) })
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("2 columns cannot be read:\n  column 1 (`colour`) holds values of type text"),
        "{error}"
    );
}

#[test]
fn truth_values_are_numbers_in_text_too() {
    let table = read("my.csv", "a,b,y\ntrue,False,1\nFALSE,TRUE,2\n", None);
    assert_eq!(table.x, array![[1.0, 0.0], [0.0, 1.0]]);
    // They make no header.
    let table = read("my.csv", "true,1\nfalse,2\n", None);
    assert_eq!(table.y, array![1.0, 2.0]);
}

#[test]
fn a_header_is_stated() {
    let years = "2018,2019,2020\n0.5,1.5,2.5\n1.5,2.25,3.5\n2.5,0.5,4.5\n";
    let table = read("my.csv", years, None);
    assert_eq!((table.n(), table.names.inputs.as_slice()), (4, words(&["0", "1"]).as_slice()));
    let warning = "line 1 (2018, 2019, 2020, ...) is read as data; if it is a header of numbers, set `header` to say so";
    assert_eq!(table.warnings, [warning]);
    let stated =
        |header| read_with("my.csv", years, &ReadOptions { header: Some(header), ..with_target(None) });
    let table = stated(true);
    assert_eq!((table.n(), table.names.target.as_str(), table.warnings), (3, "2020", vec![]));
    let table = stated(false);
    assert_eq!((table.n(), table.warnings), (4, vec![]));
    // A column whose name is a number is found by its name.
    let options = ReadOptions { header: Some(true), drop: words(&["2018"]), ..with_target(Some("2019")) };
    assert_eq!(read_with("my.csv", years, &options).y, array![1.5, 2.25, 0.5]);
}

#[test]
fn numbers_in_the_place_of_missing_values_warn() {
    let warnings = |cells: &[&str]| {
        let rows: String = cells.iter().enumerate().map(|(k, cell)| format!("{cell},{}\n", k * k)).collect();
        read("my.csv", format!("t,y\n{rows}"), None).warnings
    };
    assert_eq!(
        warnings(&["-999.9", "1.5", "20", "-999.9"]),
        [
            "column 1 (`t`) is -999.9 in 2 rows, far from its other values, 1.5 to 20.0; if it marks missing values, empty these \
             cells, and set `missing` to `drop`"
        ]
    );
    for cell in ["9999", "-99", "9.96921e36", "-1e34"] {
        assert_eq!(warnings(&[cell, "1.5", "20"]).len(), 1, "{cell}");
    }
    // Other numbers, values near the others, and a column without others.
    for cells in [["-1000", "1.5", "20"], ["99", "1.5", "80"], ["-999", "1.5", "1.5"]] {
        assert_eq!(warnings(&cells), Vec::<String>::new(), "{cells:?}");
    }
    let target = read("my.csv", "x,y\n1,-9999\n2,0.5\n4,3\n", None).warnings;
    assert!(target[0].starts_with("column 2 (`y`) is -9999.0 in 1 row, far from"), "{target:?}");
}

#[test]
fn doubtful_tables_warn() {
    let counting: String = (0..6).map(|i| format!("{i},{},{}\n", i * i % 5, 0.5 * f64::from(i))).collect();
    let table = read("my.csv", format!("id,a,y\n{counting}"), None);
    assert_eq!(
        table.warnings,
        ["column 1 (`id`) counts the rows; if it is their number and no input, drop it"]
    );
    // In any order, from any number, and with gaps where rows are left out.
    let ids = |cells: &[&str], options: &ReadOptions| {
        let rows: String = cells.iter().enumerate().map(|(k, id)| format!("{id},{}\n", k * k)).collect();
        read_with("my.csv", format!("id,y\n{rows}"), options).warnings
    };
    let plain = ReadOptions::default();
    let counts = "column 1 (`id`) counts the rows; if it is their number and no input, drop it";
    assert_eq!(ids(&["1004", "1001", "1003", "1002", "1005"], &plain), [counts]);
    assert_eq!(ids(&["1004", "1001", "1003", "1002", "1006"], &plain), Vec::<String>::new());
    assert_eq!(ids(&["1", "2", "3", "4", "4"], &plain), Vec::<String>::new());
    let days = ["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04", "2020-01-05"];
    assert_eq!(ids(&days, &plain), Vec::<String>::new());
    let dropped = ReadOptions { missing: Missing::Drop, ..ReadOptions::default() };
    let content = "id,a,y\n1,2,5\n2,,6\n3,2.5,1\n4,7,2\n5,1,9\n6,0.5,3\n";
    assert_eq!(read_with("my.csv", content, &dropped).warnings[1..], [counts]);
    let table = read("my.csv", "a,y\n1,2\n3,4\n1,2\n1,3\n-0,1\n0,1\n", None);
    assert_eq!(
        table.warnings,
        [
            "2 of 6 rows repeat an earlier row, inputs and target (row 3 is row 1 again); where they are copies, remove \
         them: what is tested would be known from training"
        ]
    );
}

#[test]
fn numbers_are_read_to_the_last_bit() {
    let numbers =
        [0.1, 1.0 / 3.0, f64::MIN_POSITIVE, 5e-324, 9.87654321e149, -71.055, 2.0_f64.powi(60) + 256.0];
    let content: String = numbers.iter().map(|v| format!("{v},{v:e}\n")).collect();
    let table = read("my.csv", content, None);
    assert_eq!(table.x.column(0).to_vec(), numbers);
    assert_eq!(table.y.to_vec(), numbers);
}

fn parquet(path: &Path, columns: Vec<Series>) {
    let columns: Vec<_> = columns.into_iter().map(IntoColumn::into_column).collect();
    let mut frame = DataFrame::new_infer_height(columns).unwrap();
    ParquetWriter::new(File::create(path).unwrap()).finish(&mut frame).unwrap();
}

#[test]
fn parquet_is_read_with_its_types_and_checked_like_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.parquet");
    let a = || Series::new("a".into(), [1_i32, 2, 3]);
    let b = || Series::new("b".into(), [0.5_f32, 1.5, 2.5]);
    let flag = || Series::new("flag".into(), [true, false, true]);
    parquet(&path, vec![a(), b(), flag()]);
    let table = import(&ImportSource::File { path: &path, options: &with_target(Some("b")) }).unwrap();
    assert_eq!((table.x, table.y), (array![[1.0, 1.0], [2.0, 0.0], [3.0, 1.0]], array![0.5, 1.5, 2.5]));

    let error = |columns: Vec<Series>, target: Option<&str>| {
        parquet(&path, columns);
        let error = import(&ImportSource::File { path: &path, options: &with_target(target) })
            .unwrap_err()
            .to_string();
        error.replace(&format!("{}/", folder.path().display()), "")
    };
    assert_eq!(
        error(vec![a(), Series::new("y".into(), [Some(1.0), None, Some(2.0)])], None),
        "my.parquet:2:2: column 2 (`y`) is empty here; fill in missing values, or set `missing` to `drop` to leave out such rows"
    );
    assert_eq!(
        error(vec![a(), Series::new("y".into(), [1.0, 2.0, f64::NAN])], None),
        "my.parquet:3:2: column 2 (`y`) is NaN here; only finite numbers are allowed; replace it or remove the row"
    );
    assert_eq!(
        error(vec![Series::new("name".into(), ["x", "y", "z"]), b()], None),
        "my.parquet: column 1 (`name`) holds values of type text, not numbers; encode it as numbers, or name the column in `categories` or in `drop`"
    );
    assert_eq!(
        error(vec![a(), b()], Some("c")),
        "my.parquet: the target column `c` does not exist; the columns are a, b"
    );
}

#[test]
fn a_copy_is_made_once_for_each_content_and_target() {
    let (folder, path) = file("my.csv", "a,b,y\n1,2,3\n4,2,6\n");
    let copies = folder.path().join("copies");
    let options = ReadOptions::default();
    let origin = ImportSource::File { path: &path, options: &options };
    let first = materialise(&origin, &copies).unwrap();
    assert!(first.is_new);
    assert_eq!((first.n, first.d, first.splits), (2, 2, 0));
    assert_eq!(first.warnings, ["column 2 (`b`) is 2 in every row; it is used, but carries no information"]);
    assert_eq!(copy::read(&first.path).unwrap(), import(&origin).unwrap());

    let again = materialise(&origin, &copies).unwrap();
    assert!(!again.is_new);
    assert_eq!((&again.path, &again.sha256, &again.warnings), (&first.path, &first.sha256, &first.warnings));

    let other =
        materialise(&ImportSource::File { path: &path, options: &with_target(Some("a")) }, &copies).unwrap();
    assert!(other.is_new && other.sha256 != first.sha256);

    fs::write(&path, "a,b,y\n1,2,3\n4,2,60\n").unwrap();
    let changed = materialise(&origin, &copies).unwrap();
    assert!(changed.is_new && changed.sha256 != first.sha256);

    fs::write(&changed.path, "no copy").unwrap();
    let mended = materialise(&origin, &copies).unwrap();
    assert_eq!((mended.is_new, &mended.sha256), (true, &changed.sha256));
}

#[test]
fn a_registered_set_must_have_its_size_and_warns_of_another_checksum() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("made");
    fs::create_dir(&set).unwrap();
    fs::write(set.join("data.csv.gz"), gzip("1,2\n3,4\n5,6\n")).unwrap();
    fs::write(set.join("data1.csv.gz"), gzip("7,8\n")).unwrap();
    fs::write(set.join("test_mask.csv.gz"), gzip("0,1\n1,0\n0,0\n0,0\n")).unwrap();
    let places = SearchPlaces {
        data_dir: Some(folder.path().into()),
        env: None,
        cache: folder.path().join("c"),
        mirror: None,
    };
    let song = registry::find("song").unwrap();
    let entry = RegistryEntry { name: "made".into(), n: 4, d: 1, ..song.clone() };
    let found = locate::locate(&entry, &places).unwrap();
    let table = import(&ImportSource::Collection(&found, &entry)).unwrap();
    assert_eq!(table.y, array![2.0, 4.0, 6.0, 8.0], "parts follow each other");
    assert_eq!(table.test_masks, [[false, true, false, false], [true, false, false, false]]);
    assert_eq!(table.warnings.len(), 1, "song's masks have a registered checksum, its data have none");
    assert!(table.warnings[0].contains("is not the registered file"), "{:?}", table.warnings);

    let entry = RegistryEntry { n: 5, ..entry };
    let error = import(&ImportSource::Collection(&found, &entry)).unwrap_err();
    assert!(matches!(error.fault, FileFault::Size { expected: (5, 1), found: (4, 1), .. }), "{error}");
}

#[test]
#[ignore = "reads the set `pol` from the folder that GPBENCH_DATA names"]
fn pol_as_published() {
    let folder = std::env::var_os("GPBENCH_DATA").expect("GPBENCH_DATA names a folder with the set `pol`");
    let cache = tempfile::tempdir().unwrap();
    let places =
        SearchPlaces { data_dir: None, env: Some(folder.into()), cache: cache.path().into(), mirror: None };
    let entry = registry::find("pol").unwrap();
    let found = locate::locate(entry, &places).expect("GPBENCH_DATA names a folder with the set `pol`");
    let copied = materialise(&ImportSource::Collection(&found, entry), &places.copies()).unwrap();
    assert_eq!((copied.n, copied.d, copied.splits), (15_000, 26, 10));
    assert_eq!(copied.warnings, Vec::<String>::new());
    let table = copy::read(&copied.path).unwrap();
    assert_eq!((table.x[(0, 0)], table.y[0]), (-2.8792, 71.055));
    let first = split(&table, 0, None, None, Preparation::default()).unwrap();
    assert_eq!((first.x_train.dim(), first.x_test.dim()), ((13_500, 26), (1_500, 26)));
}

#[test]
fn unsupported_parquet_numbers_are_refused_with_their_type() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let file = data.join("decimal.parquet");
    let origin = ImportSource::File { path: &file, options: &ReadOptions::default() };
    let error = import(&origin).unwrap_err().to_string();
    assert!(error.contains("column 4 (`c`) holds numbers of type decimal"), "{error}");
}
