//! Files that pandas has written: an index is no column, and its types are read.

use std::path::{Path, PathBuf};

use gpbench_data::Table;
use gpbench_import::{ImportError, ImportSource, import};
use gpbench_record::ReadOptions;
use ndarray::array;

/// A file that pandas wrote.
fn written(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read(path: &Path, options: &ReadOptions) -> Result<Table, ImportError> {
    import(&ImportSource::File { path, options })
}

fn text(content: &str) -> Table {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, content).unwrap();
    read(&path, &ReadOptions::default()).unwrap()
}

fn with_target(target: &str) -> ReadOptions {
    ReadOptions { target: Some(target.to_owned()), ..ReadOptions::default() }
}

const LEFT_OUT: &str = "is the index of a pandas frame and is left out";

#[test]
fn the_index_of_a_frame_is_no_column() {
    for (file, name) in [("filtered.parquet", "__index_level_0__"), ("indexed.parquet", "station")] {
        let table = read(&written(file), &ReadOptions::default()).unwrap();
        assert_eq!((table.names.target.as_str(), table.names.inputs.len()), ("y", 1), "{file}");
        assert!(table.warnings[0].contains(&format!("(`{name}`) {LEFT_OUT}")), "{:?}", table.warnings);
        // Whoever names it means it.
        let table = read(&written(file), &with_target(name)).unwrap();
        assert_eq!((table.names.inputs.len(), table.warnings.len()), (2, 0), "{:?}", table.warnings);
        let categories = ReadOptions { categories: vec![name.to_owned()], ..ReadOptions::default() };
        assert!(read(&written(file), &categories).unwrap().names.inputs.len() > 2);
        let dropped = ReadOptions { drop: vec![name.to_owned()], ..ReadOptions::default() };
        assert_eq!(read(&written(file), &dropped).unwrap().warnings, Vec::<String>::new());
    }
    // The name alone tells, where a program has lost the metadata or written text.
    let table = text("x,y,__index_level_0__\n1,2,4\n2,1,9\n");
    assert_eq!((table.names.target.as_str(), table.d()), ("y", 1));
    assert!(table.warnings[0].contains(LEFT_OUT), "{:?}", table.warnings);
}

#[test]
fn row_labels_are_warned_of() {
    for name in ["", "\"\"", "Unnamed: 0"] {
        let table = text(&format!("{name},x,y\n3,1,2\n5,2,1\n9,3,7\n"));
        assert_eq!(table.d(), 2);
        assert!(table.warnings[0].contains("has no name; if it holds row labels"), "{:?}", table.warnings);
    }
    // Labels that count the rows have one warning.
    let counting: String = (0..6).map(|row| format!("{row},{},{}\n", row * row % 5, row % 4)).collect();
    let table = text(&format!(",x,y\n{counting}"));
    assert_eq!(table.warnings.len(), 1);
    assert!(table.warnings[0].contains("counts the rows"), "{:?}", table.warnings);
    assert_eq!(text("3,1,2\n5,2,1\n9,3,7\n").warnings, Vec::<String>::new(), "no header, no names");
}

#[test]
fn categories_and_short_integers_are_read() {
    let file = written("pandas.parquet");
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let options = ReadOptions { categories: words(&["colour", "level", "c"]), ..ReadOptions::default() };
    let table = read(&file, &options).unwrap();
    let names = [
        "a",
        "b",
        "c=0",
        "c=1",
        "c=2",
        "c=255",
        "d",
        "colour=blue",
        "colour=green",
        "colour=red",
        "level=1",
        "level=2",
        "level=3",
    ];
    assert_eq!(table.names.inputs, names);
    assert_eq!(table.x.column(0).to_vec(), [-128.0, 127.0, 5.0, 6.0]);
    assert_eq!(table.x.column(1).to_vec(), [-32768.0, 32767.0, 1.0, 2.0]);
    assert_eq!(table.x.column(6).to_vec(), [0.0, 65535.0, 3.0, 4.0]);
    assert_eq!(table.x.column(9).to_vec(), [1.0, 0.0, 1.0, 0.0]);
    let options = ReadOptions { drop: words(&["colour"]), ..with_target("c") };
    let table = read(&file, &options).unwrap();
    assert_eq!(table.y, array![0.0, 255.0, 1.0, 2.0]);
    assert_eq!(table.x.column(3).to_vec(), [3.0, 1.0, 3.0, 2.0], "categories of numbers are numbers");
    let table = read(&written("int8.parquet"), &ReadOptions::default()).unwrap();
    assert!(table.n() > 1);
    // A column that pandas calls a category is one.
    let table = read(&file, &ReadOptions::default()).unwrap();
    assert_eq!(
        table.names.inputs,
        ["a", "b", "c", "d", "colour=blue", "colour=green", "colour=red", "level"]
    );
    let colour = &table.reading.columns[4];
    assert_eq!(
        [&colour.name, &colour.kind, &colour.values, &colour.becomes],
        ["colour", "categories", "3: blue, green, red", "3 inputs, 0 or 1"]
    );
    let error = read(&file, &with_target("colour")).unwrap_err().to_string();
    assert!(error.contains("column 5 (`colour`) holds values of type category, not numbers"), "{error}");
}
