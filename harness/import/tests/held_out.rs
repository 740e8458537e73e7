//! A user's own file of test rows: columns are matched by name, and what does not fit the training rows is refused by name.

use std::fs;
use std::path::Path;

use gpbench_data::{Table, copy};
use gpbench_import::{ImportSource, import, materialise};
use gpbench_record::{Missing, ReadOptions};
use ndarray::array;
use polars::prelude::{DataFrame, IntoColumn, NamedFrom, ParquetWriter, Series};

const TRAINING: &str = "id,depth,site,oxygen\n1,1.5,north,8\n2,2.5,south,7\n3,3.5,north,5\n";

fn options() -> ReadOptions {
    ReadOptions {
        test: Some("held-out.csv".to_owned()),
        target: Some("oxygen".to_owned()),
        drop: vec!["id".to_owned()],
        categories: vec!["site".to_owned()],
        ..ReadOptions::default()
    }
}

/// The table of both files, or the error without the folder's name.
fn read(training: &str, test: &str, options: &ReadOptions) -> Result<Table, String> {
    let folder = tempfile::tempdir().unwrap();
    let [path, held_out] = ["train.csv", "held-out.csv"].map(|name| folder.path().join(name));
    fs::write(&path, training).unwrap();
    fs::write(&held_out, test).unwrap();
    of_files(&path, &held_out, options)
}

fn of_files(path: &Path, test: &Path, options: &ReadOptions) -> Result<Table, String> {
    let folder = path.parent().unwrap().display().to_string();
    let error = |error: gpbench_import::ImportError| error.to_string().replace(&format!("{folder}/"), "");
    import(&ImportSource::HeldOut { path, test, options }).map_err(error)
}

#[test]
fn columns_are_matched_by_name_whatever_their_order() {
    let table = read(TRAINING, "oxygen,site,note,depth\n6,south,1,9.5\n4,north,2,0.5\n", &options()).unwrap();
    assert_eq!(table.names.inputs, ["depth", "site=north", "site=south"]);
    assert_eq!(
        table.x,
        array![[1.5, 1.0, 0.0], [2.5, 0.0, 1.0], [3.5, 1.0, 0.0], [9.5, 0.0, 1.0], [0.5, 1.0, 0.0]]
    );
    assert_eq!(table.y, array![8.0, 7.0, 5.0, 6.0, 4.0]);
    assert_eq!(table.test_masks, [[false, false, false, true, true]]);
    assert_eq!((table.name.as_str(), table.names.target.as_str()), ("train", "oxygen"));
    assert_eq!(table.warnings, ["held-out.csv: column `note` is not in train.csv, and is not used"]);
    let outside = table.outside_training_box().unwrap();
    assert_eq!((outside.rows, outside.of, outside.inputs), (2, 2, vec![("depth".to_owned(), 2)]));
}

#[test]
fn one_test_row_and_a_constant_target_are_enough() {
    let table = read(TRAINING, "depth,oxygen,site\n1,5,north\n2,5,north\n", &options()).unwrap();
    assert_eq!((table.n(), &table.warnings), (5, &vec![]));
    assert_eq!(read(TRAINING, "depth,oxygen,site\n1,5,north\n", &options()).unwrap().n(), 4);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    for (test, expected) in [
        (
            "depth,oxygen,site\n1,5,north\n2,6,west\n",
            "held-out.csv:3:3: `west` in column 3 (`site`) is no category of the training rows; correct it, remove the row, or \
             add rows with it to the training rows",
        ),
        (
            "oxygen,site\n5,north\n",
            "held-out.csv: the file lacks the column `depth` of train.csv; columns are matched by name: add it, or drop inputs by \
             `drop`",
        ),
        (
            "depth,site\n5,north\n",
            "held-out.csv: the file lacks the column `oxygen` of train.csv; columns are matched by name: add it; test rows need \
             their targets, which predictions are compared with",
        ),
        (
            "depth,oxygen,site\n1,5,north\n,6,south\n",
            "held-out.csv:3:1: column 1 (`depth`) is empty here; fill in missing values, or set `missing` to `drop` to leave \
             out such rows",
        ),
        (
            "depth,oxygen,site\n1,NA,north\n",
            "held-out.csv:2:2: column 2 (`oxygen`) is `NA` here, a missing value; fill in missing values, or set `missing` \
             to `drop` to leave out such rows",
        ),
        (
            "depth,oxygen,site\n",
            "held-out.csv: the file has a header and no rows; at least one test row is needed",
        ),
    ] {
        assert_eq!(read(TRAINING, test, &options()).unwrap_err(), expected);
    }
    let missing = read(TRAINING, "site\nnorth\n", &options()).unwrap_err();
    assert!(missing.contains("one column"), "{missing}");
}

#[test]
fn rows_that_are_left_out_count_in_the_numbers_of_both_files() {
    let options = ReadOptions { missing: Missing::Drop, ..options() };
    let training = "id,depth,site,oxygen\n1,NA,north,8\n2,2.5,south,7\n3,3.5,north,5\n";
    let table =
        read(training, "depth,oxygen,site\n1,,north\n2,6,south\n,5,south\n3,4,north\n", &options).unwrap();
    assert_eq!((table.n(), &table.test_masks[0]), (4, &vec![false, false, true, true]));
    assert_eq!(table.file_rows(&[2, 3], true), [1, 3]);
    assert_eq!(table.file_rows(&[0, 1], false), [1, 2]);
    assert!(
        table.warnings.iter().any(|warning| warning.starts_with("held-out.csv: 2 of 4 rows are left out")),
        "{:?}",
        table.warnings
    );
}

#[test]
fn a_column_of_ids_is_text_and_no_input_in_both_files() {
    let options = ReadOptions { drop: vec![], id: Some("id".to_owned()), ..options() };
    let table = read(TRAINING, "id,depth,oxygen,site\nnorth-1,2,5,north\n7,2,5,north\n", &options).unwrap();
    assert_eq!(table.names.inputs, ["depth", "site=north", "site=south"]);
    assert_eq!(table.reading.ids, ["1", "2", "3", "north-1", "7"]);
    let table = read(TRAINING, "id,depth,oxygen,site\n7,2,5,north\n7,2,6,north\n", &options).unwrap();
    let said = "held-out.csv: `7` is the id of several rows; ids do not tell the rows of predictions apart";
    assert_eq!(table.warnings, [said]);
    assert_eq!(
        read(TRAINING, "depth,oxygen,site\n2,5,north\n", &options).unwrap_err(),
        "held-out.csv: the file lacks the column `id` of train.csv; columns are matched by name: add it, or drop inputs by `drop`"
    );
    let target = ReadOptions { id: Some("oxygen".to_owned()), ..options };
    let error = read(TRAINING, "depth,oxygen,site\n2,5,north\n", &target).unwrap_err();
    assert!(error.contains("column 4 (`oxygen`) is named as target column and as column of ids"), "{error}");
}

#[test]
fn times_do_not_stand_for_numbers() {
    let options = ReadOptions { test: Some("held-out.csv".to_owned()), ..ReadOptions::default() };
    let error = read("when,y\n2020-01-01,1\n2020-01-02,2\n", "when,y\n18263,3\n", &options).unwrap_err();
    assert_eq!(
        error,
        "held-out.csv: column `when` holds numbers here, and times in train.csv; write both in one form"
    );
}

#[test]
fn times_with_an_offset_do_not_stand_for_times_without_one() {
    let options = ReadOptions { test: Some("held-out.csv".to_owned()), ..ReadOptions::default() };
    let training = "when,y\n2020-01-01 06:00,1\n2020-01-02 06:00,2\n";
    let error = read(training, "when,y\n2020-01-03T06:00+02:00,3\n", &options).unwrap_err();
    assert_eq!(
        error,
        "held-out.csv: column `when` holds times in UTC here, and times in train.csv; write both in one form"
    );
    assert_eq!(read(training, "when,y\n2020-01-03,3\n", &options).unwrap().x.row(2)[0], 18264.0);
}

#[test]
fn without_headers_columns_are_matched_by_place() {
    let plain = ReadOptions { test: Some("held-out.csv".to_owned()), ..ReadOptions::default() };
    let table = read("1,2,3\n4,5,6\n", "7,8,9\n", &plain).unwrap();
    assert_eq!((table.x.row(2).to_vec(), table.y[2]), (vec![7.0, 8.0], 9.0));
    assert_eq!(
        read("1,2,3\n4,5,6\n", "7,8\n", &plain).unwrap_err(),
        "held-out.csv: the file has 2 columns, train.csv has 3; without headers columns are matched by their places: give both \
         files the same columns, or headers"
    );
    assert_eq!(
        read("1,2,3\n4,5,6\n", "a,b,y\n7,8,9\n", &plain).unwrap_err(),
        "held-out.csv: the file has a header, train.csv has none; columns are matched by name: give both files a header, or set \
         `header`"
    );
    let headed = read("a,b,y\n1,2,3\n4,5,6\n", "7,8,9\n", &plain).unwrap_err();
    assert!(headed.starts_with("held-out.csv: the file has no header, train.csv has one; "), "{headed}");
}

#[test]
fn a_file_is_not_tested_by_itself_and_a_folder_has_no_test_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("train.csv");
    fs::write(&path, TRAINING).unwrap();
    let options = options();
    let same = of_files(&path, &folder.path().join("./train.csv"), &options).unwrap_err();
    assert!(same.contains("the file of test rows is that of the training rows"), "{same}");
    let origin = ImportSource::HeldOut { path: folder.path(), test: &path, options: &options };
    let of_folder = import(&origin).unwrap_err().to_string();
    assert!(of_folder.contains("a folder with data.csv.gz has no test rows in another file"), "{of_folder}");
}

fn parquet(path: &Path, columns: [Series; 3]) {
    let columns = columns.map(IntoColumn::into_column).to_vec();
    let mut frame = DataFrame::new(2, columns).unwrap();
    ParquetWriter::new(fs::File::create(path).unwrap()).finish(&mut frame).unwrap();
}

#[test]
fn parquet_files_are_matched_too_and_with_csv() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let options = ReadOptions { drop: vec![], ..options() };
    let site = |values: [&str; 2]| Series::new("site".into(), values);
    let number = |name: &str, values: [f64; 2]| Series::new(name.into(), values);
    let training = [number("depth", [1.0, 2.0]), site(["north", "south"]), number("oxygen", [8.0, 7.0])];
    parquet(&at("train.parquet"), training);
    parquet(
        &at("test.parquet"),
        [number("oxygen", [5.0, 4.0]), site(["south", "south"]), number("depth", [3.0, 4.0])],
    );
    let table = of_files(&at("train.parquet"), &at("test.parquet"), &options).unwrap();
    assert_eq!(table.x, array![[1.0, 1.0, 0.0], [2.0, 0.0, 1.0], [3.0, 0.0, 1.0], [4.0, 0.0, 1.0]]);
    assert_eq!(table.y, array![8.0, 7.0, 5.0, 4.0]);
    fs::write(at("train.csv"), "site;depth;oxygen\nnorth;1;8\nsouth;2;7\n").unwrap();
    let separated = ReadOptions { separator: Some(';'), ..options.clone() };
    let mixed = of_files(&at("train.csv"), &at("test.parquet"), &separated).unwrap();
    assert_eq!(mixed.names.inputs, ["site=north", "site=south", "depth"]);
    assert_eq!(mixed.x.row(3).to_vec(), [0.0, 1.0, 4.0]);
    parquet(
        &at("test.parquet"),
        [number("oxygen", [5.0, 4.0]), site(["south", "west"]), number("depth", [3.0, 4.0])],
    );
    assert_eq!(
        of_files(&at("train.parquet"), &at("test.parquet"), &options).unwrap_err(),
        "test.parquet:2:2: `west` in column 2 (`site`) is no category of the training rows; correct it, remove the row, or add \
         rows with it to the training rows"
    );
}

#[test]
fn the_content_of_both_files_is_the_identity() {
    let folder = tempfile::tempdir().unwrap();
    let [path, test, copies] = ["train.csv", "held-out.csv", "copies"].map(|name| folder.path().join(name));
    fs::write(&path, TRAINING).unwrap();
    let options = options();
    let made = |rows: &str| {
        fs::write(&test, format!("depth,oxygen,site\n{rows}")).unwrap();
        materialise(&ImportSource::HeldOut { path: &path, test: &test, options: &options }, &copies).unwrap()
    };
    let (first, second) = (made("1,5,north\n"), made("1,6,north\n"));
    assert_ne!(first.sha256, second.sha256);
    let again = made("1,5,north\n");
    assert_eq!((&again.sha256, &again.path, again.is_new), (&first.sha256, &first.path, false));
    assert_eq!((again.n, again.splits, copy::training_rows_of_splits(&again.path).unwrap()), (4, 1, vec![3]));
}
