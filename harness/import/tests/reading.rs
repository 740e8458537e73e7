//! Options of reading: dates and times, missing values, decimal commas, comments and groups; and what is said of a file.

use std::fs;
use std::path::Path;

use gpbench_data::{Repeats, Table};
use gpbench_import::{ImportError, ImportSource, import, materialise};
use gpbench_record::{Missing, ReadOptions, TimeUnit};
use ndarray::array;
use polars::prelude::{DataFrame, IntoColumn, NamedFrom, ParquetWriter, Series};

fn try_read(name: &str, content: &[u8], options: &ReadOptions) -> Result<Table, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let told = |error: ImportError| error.to_string().replace(&format!("{}/", folder.path().display()), "");
    import(&ImportSource::File { path: &path, options }).map_err(told)
}

fn read(content: &str, options: &ReadOptions) -> Table {
    try_read("a.csv", content.as_bytes(), options).unwrap_or_else(|error| panic!("{error}"))
}

fn error(content: &str, options: &ReadOptions) -> String {
    try_read("a.csv", content.as_bytes(), options).unwrap_err()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn drop_missing() -> ReadOptions {
    ReadOptions { missing: Missing::Drop, ..ReadOptions::default() }
}

#[test]
fn dates_and_times_become_numbers() {
    let content = "when,at,y\n1970-01-02,06:00,1\n1970-01-03T12:00:00,18:30,2\n";
    let table = read(content, &ReadOptions::default());
    assert_eq!(table.x, array![[1.0, 0.25], [2.5, 18.5 / 24.0]]);
    let told: Vec<[&str; 4]> = table
        .reading
        .columns
        .iter()
        .map(|column| [&column.name, &column.kind, &column.values, &column.becomes].map(String::as_str))
        .collect();
    assert_eq!(
        told,
        [
            ["when", "times", "1970-01-02 to 1970-01-03 12:00:00", "input: days since 1970-01-01"],
            ["at", "times of day", "06:00:00 to 18:30:00", "input: days since midnight"],
            ["y", "numbers", "1 to 2", "target"],
        ]
    );
    let hours = ReadOptions {
        time_unit: TimeUnit::Hours,
        time_origin: Some("1970-01-02".into()),
        ..ReadOptions::default()
    };
    assert_eq!(read(content, &hours).x, array![[0.0, 6.0], [36.0, 18.5]]);
    // Without a header, a first line of times and numbers is data; a line of dates alone is a header.
    assert_eq!(read("12:00,5\n18:00,6\n", &ReadOptions::default()).x, array![[0.5], [0.75]]);
    let table = read("2020-01-01,2020-02-01\n1,2\n3,4\n", &ReadOptions::default());
    assert_eq!(table.names.inputs, ["2020-01-01"]);
}

#[test]
fn dates_that_may_be_meant_month_first_are_warned_of() {
    let months = |last: &str| format!("when,y\n01/01/2020,1\n02/01/2020,2\n03/01/2020 12:00,3\n{last},4\n");
    let table = read(&months("04/01/2020"), &ReadOptions::default());
    assert_eq!(table.x.column(0).to_vec(), [18262.0, 18263.0, 18264.5, 18265.0]);
    assert_eq!(
        table.warnings,
        [
            "line 3: 02/01/2020 in column 1 (`when`) is read day first, and so are all dates of the column, none of which has a day \
             beyond 12; if the month comes first, write dates as 2020-01-31"
        ]
    );
    assert_eq!(read(&months("13/01/2020"), &ReadOptions::default()).warnings, Vec::<String>::new());
    let error = error(&months("01/13/2020"), &ReadOptions::default());
    assert!(error.contains("looks like a date or a time that cannot be read"), "{error}");
}

#[test]
fn a_column_of_times_holds_nothing_else() {
    for (content, expected) in [
        (
            "when,y\n2020-01-01,1\n17,2\n",
            "a.csv:3:1: `17` in column 1 (`when`) is a number, and the rows before it hold dates or times without an offset; \
             write all cells of the column alike, or name it in `drop`",
        ),
        (
            "when,y\n17,2\n2020-01-01,1\n",
            "is a date or a time without an offset, and the rows before it hold numbers",
        ),
        (
            "when,y\n2020-01-01T00:00Z,1\n2020-01-01T00:00,2\n",
            "is a date or a time without an offset, and the rows before it hold times with an offset from UTC",
        ),
    ] {
        let error = error(content, &ReadOptions::default());
        assert!(error.contains(expected), "{error}");
    }
    let options = ReadOptions { time_origin: Some("noon".into()), ..ReadOptions::default() };
    assert!(
        error("a,y\n1,2\n3,4\n", &options).starts_with("a.csv: `time_origin` is `noon`, which is no date")
    );
}

#[test]
fn rows_that_lack_a_value_are_left_out_and_counted() {
    let content = "a,c,note,y\n1,red,,1\nNA,blue,,2\n3,?,,3\n4,red,,nan\n,,x,5\n6,green,x,6\n";
    let options = ReadOptions { categories: words(&["c"]), drop: words(&["note"]), ..drop_missing() };
    let table = read(content, &options);
    assert_eq!(table.names.inputs, ["a", "c=green", "c=red"], "a category of rows that are left out is none");
    assert_eq!((table.x, table.y), (array![[1.0, 0.0, 1.0], [6.0, 1.0, 0.0]], array![1.0, 6.0]));
    assert_eq!((table.reading.rows, table.reading.left_out), (6, 4));
    let said = "4 of 6 rows are left out, because they lack a value (`missing` is `drop`): 2 in column 1 (`a`), 2 in column 2 \
                (`c`), 1 in column 4 (`y`)";
    assert_eq!(table.warnings, [said]);
    // Infinite values are no missing ones.
    assert!(error("a,y\n1,inf\n2,3\n", &drop_missing()).contains("column 2 (`y`) is inf here"));
    assert_eq!(
        error("a,b,y\n1,,2\n3,,\n", &drop_missing()),
        "a.csv: each of the 2 rows lacks a value, 2 of them in column 2 (`b`); fill in its values, or drop the column"
    );
    assert_eq!(read("a,y\n1,2\n3,4\n", &drop_missing()).warnings, Vec::<String>::new());
}

#[test]
fn rows_of_parquet_that_lack_a_value_are_left_out_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let columns = vec![
        Series::new("a".into(), [Some(1.0), None, Some(f64::NAN), Some(4.0), Some(5.0)]),
        Series::new("c".into(), [Some("red"), Some("blue"), Some("red"), Some(""), Some("green")]),
        Series::new("y".into(), [1_i64, 2, 3, 4, 5]),
    ];
    let columns: Vec<_> = columns.into_iter().map(IntoColumn::into_column).collect();
    let mut frame = DataFrame::new_infer_height(columns).unwrap();
    ParquetWriter::new(fs::File::create(&path).unwrap()).finish(&mut frame).unwrap();
    let read = |options: &ReadOptions| import(&ImportSource::File { path: &path, options });
    let options = ReadOptions { categories: words(&["c"]), ..drop_missing() };
    let table = read(&options).unwrap();
    assert_eq!((table.x, table.y), (array![[1.0, 0.0, 1.0], [5.0, 1.0, 0.0]], array![1.0, 5.0]));
    assert!(table.warnings[0].starts_with("3 of 5 rows are left out"), "{:?}", table.warnings);
    let grouped = ReadOptions { group: Some("c".into()), ..drop_missing() };
    let table = read(&grouped).unwrap();
    assert_eq!((table.d(), table.keys[0].values.as_slice()), (1, &[1.0, 0.0][..]));
    assert_eq!(table.reading.groups, ["green", "red"]);
    let text = ReadOptions { decimal: Some(','), ..ReadOptions::default() };
    assert!(
        read(&text)
            .unwrap_err()
            .to_string()
            .contains("a Parquet file has no separator, header, decimal mark")
    );
}

#[test]
fn decimal_commas_and_comments() {
    let options = ReadOptions { decimal: Some(','), comment: Some('#'), ..ReadOptions::default() };
    let content = "# made by \"me\n# today\nx;y\n1,5;2\n#3;4\n-0,25e1;7,125\n";
    let table = read(content, &options);
    assert_eq!((table.x, table.y), (array![[1.5], [-2.5]], array![2.0, 7.125]));
    for (cell, what) in [
        ("1.5", "has a point or several commas, and `decimal` is a comma"),
        ("1.234,5", "has a point or several commas"),
        ("1,234,567", "has a point or several commas"),
        ("red", "`red` in column 1 (`x`) is not a number"),
    ] {
        let error = error(&format!("# a comment\nx;y\n1;2\n{cell};4\n"), &options);
        assert!(error.starts_with("a.csv:4:1: ") && error.contains(what), "{error}");
    }
    // A date has points too, and cells may be quoted.
    let quoted = ReadOptions { separator: Some(','), ..options };
    let table = read("x,when,y\n\"1,5\",02.01.1970,\"2,5\"\n\"2,5\",03.01.1970,1\n", &quoted);
    assert_eq!((table.x, table.y), (array![[1.5, 1.0], [2.5, 2.0]], array![2.5, 1.0]));
    assert!(error("# only\n1\n2\n", &quoted).contains("the file has one column"));
}

#[test]
fn a_column_of_groups_is_no_input_unless_it_holds_categories() {
    let content = "site,x,y\n10,1,1\n9,2,2\n10,3,3\n";
    let options = ReadOptions { group: Some("site".into()), ..ReadOptions::default() };
    let table = read(content, &options);
    assert_eq!(table.names.inputs, ["x"]);
    assert_eq!((table.keys[0].label.as_str(), &table.keys[0].values), ("site", &vec![1.0, 0.0, 1.0]));
    assert_eq!(table.reading.groups, ["9", "10"], "numbers are in their order");
    assert_eq!(table.reading.columns[0].becomes, "no input; groups of rows");
    let both = ReadOptions { categories: words(&["site"]), ..options.clone() };
    assert_eq!(read(content, &both).names.inputs, ["site=10", "site=9", "x"]);
    // More groups than a column may have categories.
    let many: String = (0..1500).map(|row| format!("patient{row},{row},{}\n", row % 7)).collect();
    assert_eq!(read(&format!("site,x,y\n{many}"), &options).reading.groups.len(), 1500);
    let target = ReadOptions { target: Some("site".into()), ..options };
    assert!(
        error(content, &target)
            .contains("column 1 (`site`) is named as target column and as column of groups")
    );
}

#[test]
fn a_group_without_a_name_is_warned_of() {
    let options = ReadOptions { group: Some("site".into()), ..ReadOptions::default() };
    for mark in ["NA", "?", "nan"] {
        let table = read(&format!("site,x,y\na,1,1\n{mark},2,2\nb,3,3\n"), &options);
        let expected = format!(
            "`{mark}` in column 1 (`site`) marks a missing value and is read as a group of its own; remove its rows if that \
             is not meant"
        );
        assert_eq!(table.warnings, [expected]);
    }
    assert!(error("site,x,y\na,1,1\n,2,2\n", &options).contains("column 1 (`site`) is empty here"));
    let dropped = ReadOptions { missing: Missing::Drop, ..options };
    let table = read("site,x,y\na,1,1\nNA,2,2\nb,3,3\n", &dropped);
    assert_eq!(table.reading.groups, ["a", "b"]);
}

#[test]
fn values_that_may_be_meant_as_one_are_warned_of() {
    let group = ReadOptions { group: Some("site".into()), ..ReadOptions::default() };
    let categories = ReadOptions { categories: words(&["site"]), ..ReadOptions::default() };
    for (first, second) in [("North", "north"), ("1", "1.0")] {
        let content = format!("site,x,y\n{first},1,1\n{second},2,2\nb,3,3\n");
        for (options, what) in [(&group, "groups"), (&categories, "categories")] {
            let expected = format!(
                "`{first}` and `{second}` in column 1 (`site`) are two {what}; write them alike if one is meant"
            );
            assert_eq!(read(&content, options).warnings, [expected]);
        }
    }
}

#[test]
fn columns_of_the_split_are_read_even_if_they_are_dropped() {
    let content = "lon,when,y\n1,1970-01-02,1\n2,1970-01-04,2\n";
    let by = |columns: &[&str]| ReadOptions {
        drop: words(&["when"]),
        split_by: words(columns),
        ..ReadOptions::default()
    };
    let table = read(content, &by(&["lon", "when"]));
    assert_eq!(table.names.inputs, ["lon"]);
    let keys: Vec<(&str, &[f64])> =
        table.keys.iter().map(|key| (key.label.as_str(), key.values.as_slice())).collect();
    assert_eq!(keys, [("lon", &[1.0, 2.0][..]), ("when", &[1.0, 3.0])]);
    assert_eq!(
        error(content, &by(&["lan"])),
        "a.csv: the column of the split `lan` does not exist; did you mean `lon`?"
    );
    // Such a column is no target by default.
    let last = ReadOptions { split_by: words(&["when"]), ..ReadOptions::default() };
    assert_eq!(read("lon,y,when\n1,1,5\n2,2,6\n", &last).names.target, "y");
}

#[test]
fn options_that_change_what_is_read_have_copies_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copies) = (folder.path().join("a.csv"), folder.path().join("copies"));
    fs::write(&path, "site,when,y\n1,1970-01-02,1\n2,1970-01-04,2\n").unwrap();
    let made =
        |options: &ReadOptions| materialise(&ImportSource::File { path: &path, options }, &copies).unwrap();
    let plain = made(&ReadOptions::default());
    let options = [
        ReadOptions { time_unit: TimeUnit::Hours, ..ReadOptions::default() },
        ReadOptions { time_origin: Some("2000-01-01".into()), ..ReadOptions::default() },
        ReadOptions { group: Some("site".into()), ..ReadOptions::default() },
        ReadOptions { split_by: words(&["when"]), ..ReadOptions::default() },
    ];
    for options in &options {
        let other = made(options);
        assert!(other.is_new && other.sha256 != plain.sha256, "{options:?}");
        assert_eq!((&made(options).sha256, made(options).is_new), (&other.sha256, false));
    }
    let read = made(&ReadOptions::default()).reading;
    assert_eq!((read.rows, read.columns.len(), read.columns[1].kind.as_str()), (2, 3, "times"));
}

#[test]
fn rows_that_share_their_inputs_are_counted() {
    let rows: String = (0..40).map(|row| format!("{},{row}\n", row / 4 * 2)).collect();
    let table = read(&format!("x,y\n{rows}"), &ReadOptions::default());
    assert_eq!(table.reading.repeats, Repeats { rows: 40, inputs: 10, test_rows: 4, known_test_rows: 4 });
    assert_eq!(read("x,y\n1,2\n3,4\n", &ReadOptions::default()).reading.repeats.rows, 0);
}

/// Columns of pandas: dates, times with and without a zone, and times of day.
#[test]
fn times_of_parquet_are_read_as_those_of_text() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/times.parquet");
    let table = import(&ImportSource::File { path: &file, options: &ReadOptions::default() }).unwrap();
    assert_eq!(table.names.inputs, ["day", "seconds", "local", "zoned", "of_day"]);
    assert_eq!(
        table.x,
        array![
            [1.0, 1.5, 1.5, 1.5, 0.25],
            [2.0, -0.5, 2.25, 2.25, 0.5],
            [18262.0, 18262.0, 18262.0, 18262.0, 0.75]
        ]
    );
    let kinds: Vec<&str> = table.reading.columns.iter().map(|column| column.kind.as_str()).collect();
    assert_eq!(kinds, ["times", "times", "times", "times in UTC", "times of day", "numbers"]);
}
