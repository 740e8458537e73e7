//! Every kind of bad file gives one error, with its place and what to do.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use flate2::{Compression, write::GzEncoder};
use gpbench_import::{ImportSource, import};
use gpbench_record::ReadOptions;

/// The error for a file of this content, without the folder's name.
fn error_of(name: &str, content: impl AsRef<[u8]>, target: Option<&str>) -> String {
    error_with(name, content, ReadOptions { target: target.map(str::to_owned), ..ReadOptions::default() })
}

/// The error for a file of this content that is read with these options.
fn error_with(name: &str, content: impl AsRef<[u8]>, options: ReadOptions) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let error = import(&ImportSource::File { path: &path, options: &options }).unwrap_err();
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

fn csv_error(content: &str) -> String {
    error_of("file.csv", content, None)
}

fn gzip(content: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn ragged_rows() {
    assert_eq!(
        csv_error("a,b,y\n1,2,3\n4,5\n"),
        "file.csv:3:3: the line has 2 cells, line 1 has 3; complete it or remove it"
    );
    assert_eq!(
        csv_error("1,2,3\n4,5,6,7\n"),
        "file.csv:2:4: the line has 4 cells, line 1 has 3; complete it or remove it"
    );
}

#[test]
fn text_among_numbers() {
    assert_eq!(
        csv_error("a,colour,y\n1,2,3\n4,red,6\n"),
        "file.csv:3:2: `red` in column 2 (`colour`) is not a number; \
         correct it, or name the column in `categories` or in `drop`"
    );
    assert_eq!(
        csv_error("1,2,3\n4,5,1.2.3\n"),
        "file.csv:2:3: `1.2.3` in column 3 is not a number; \
         correct it, or name the column in `categories` or in `drop`"
    );
}

#[test]
fn numbers_whose_squares_overflow() {
    assert_eq!(
        csv_error("a,y\n1,2\n-1e200,4\n"),
        "file.csv:3:1: column 1 (`a`) is -1e200 here, too large to be squared; \
         rescale the column or remove the row"
    );
}

#[test]
fn missing_and_infinite_values() {
    assert_eq!(
        csv_error("a,y\n1,2\n,4\n"),
        "file.csv:3:1: column 1 (`a`) is empty here; fill in missing values, or set `missing` to `drop` to leave out such rows"
    );
    for (cell, shown) in [("NaN", "NaN"), ("inf", "inf"), ("-Infinity", "-Infinity"), ("1e999", "1e999")] {
        assert_eq!(
            csv_error(&format!("1,2\n3, {cell} \n5,6\n")),
            format!(
                "file.csv:2:2: column 2 is {shown} here; \
                 only finite numbers are allowed; replace it or remove the row"
            )
        );
    }
    for mark in ["NA", "n/a", "?", "-", ".", "None", "null", "#N/A", "<NA>", "\\N"] {
        assert_eq!(
            csv_error(&format!("1,2\n3, {mark} \n5,6\n")),
            format!(
                "file.csv:2:2: column 2 is `{mark}` here, a missing value; \
                 fill in missing values, or set `missing` to `drop` to leave out such rows"
            )
        );
        assert!(csv_error(&format!("1,{mark}\n3,4\n")).starts_with("file.csv:1:2: column 2 is `"), "{mark}");
    }
    // In the first line too, a missing value is a fault and does not make a header.
    assert!(csv_error("1,NaN\n3,4\n").starts_with("file.csv:1:2: column 2 is NaN here"));
}

#[test]
fn blank_lines_do_not_shift_the_count() {
    for end in ["\n", "\r\n"] {
        for last in ["", end] {
            let lines = ["a,y", "", "1,2", " ", "", "3,x"].join(end) + last;
            let error = csv_error(&lines);
            assert!(error.starts_with("file.csv:6:2: `x` in column 2 (`y`) is not"), "{lines:?}: {error}");
        }
    }
}

#[test]
fn too_little() {
    let empty =
        "file.csv: the file is empty; it needs one line per row, inputs and target separated by commas";
    assert_eq!(csv_error(""), empty);
    assert_eq!(csv_error("\n\n"), empty);
    assert_eq!(csv_error("a,b,y\n"), "file.csv: the file has a header and no rows; at least 2 are needed");
    assert_eq!(csv_error("a,b,y\n1,2,3\n"), "file.csv: the file has one row; at least 2 are needed");
    assert_eq!(
        csv_error("y\n1\n2\n"),
        "file.csv:1: the file has one column; it needs at least one input and a target, separated by commas"
    );
    assert_eq!(
        csv_error("1;2;3\n4;5;6\n"),
        "file.csv:1: the file has one column; it needs at least one input and a target, \
         separated by commas (it seems to use `;`: set `separator`)"
    );
}

#[test]
fn targets() {
    let file = "length,width,price\n1,2,3\n4,5,6\n";
    assert_eq!(
        error_of("file.csv", file, Some("Prise")),
        "file.csv: the target column `Prise` does not exist; did you mean `price`?"
    );
    assert_eq!(
        error_of("file.csv", file, Some("zzz")),
        "file.csv: the target column `zzz` does not exist; the columns are length, width, price"
    );
    assert_eq!(
        error_of("file.csv", file, Some("3")),
        "file.csv: the target column 3 does not exist; columns are counted from 0 to 2"
    );
    assert_eq!(
        error_of("file.csv", "1,2\n3,4\n", Some("price")),
        "file.csv: the target column `price` does not exist; \
         the file has no header: give the target as a number counted from 0"
    );
    assert_eq!(
        csv_error("a,y\n1,7\n2,7\n"),
        "file.csv: the target, column 2 (`y`), is 7 in every row; choose another target column"
    );
}

#[test]
fn all_bad_columns_are_told_at_once() {
    assert_eq!(
        csv_error("a,colour,c,y\n1,red,3,4\n5,blue,,NaN\n5,blue,x,8\n"),
        "file.csv: 3 columns cannot be read:\n  \
         line 2: `red` in column 2 (`colour`) is not a number; correct it, or name the column in `categories` or in `drop`\n  \
         line 3: column 3 (`c`) is empty here; fill in missing values, or set `missing` to `drop` to leave out such rows\n  \
         line 3: column 4 (`y`) is NaN here; only finite numbers are allowed; replace it or remove the row"
    );
    let wide = format!("{}\n", ["x"; 12].join(",")).repeat(3);
    let error = error_with("file.csv", wide, ReadOptions { header: Some(false), ..ReadOptions::default() });
    assert!(error.starts_with("file.csv: 12 columns cannot be read:\n  line 1: `x` in column 1 "), "{error}");
    assert!(error.ends_with("\n  and 2 more columns") && error.lines().count() == 12, "{error}");
    // A line that cannot be read ends the search.
    let error = csv_error("1,2,3\n4,x,6\n7,8\n9,9,x\n");
    assert!(error.starts_with("file.csv:2:2: `x` in column 2"), "{error}");
}

#[test]
fn columns_that_cannot_be_chosen() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let file = "a,b,y\n1,2,3\n4,5,7\n";
    let error = |target: Option<&str>, drop: &[&str], categories: &[&str]| {
        let target = target.map(str::to_owned);
        let (drop, categories) = (words(drop), words(categories));
        error_with("file.csv", file, ReadOptions { target, drop, categories, ..ReadOptions::default() })
    };
    assert_eq!(
        error(None, &["zz"], &[]),
        "file.csv: the column to drop `zz` does not exist; the columns are a, b, y"
    );
    assert_eq!(
        error(None, &[], &["7"]),
        "file.csv: the column of categories 7 does not exist; columns are counted from 0 to 2"
    );
    assert!(
        error(Some("a"), &["0"], &[]).contains("column 1 (`a`) is two of target, categories and dropped")
    );
    assert!(error(None, &["a"], &["a"]).contains("column 1 (`a`) is two of target"));
    assert!(error(None, &[], &["y"]).contains("column 3 (`y`) is two of target"));
    assert_eq!(error(None, &["a", "b"], &[]), "file.csv: no input is left; drop fewer columns");
    assert_eq!(error(None, &["a", "b", "y"], &[]), "file.csv: no input is left; drop fewer columns");

    // All mistakes are told at once.
    assert_eq!(
        error(Some("z"), &["zz", "a"], &["9", "a"]),
        "file.csv: the columns that are named have 4 mistakes:\n  \
         the target column `z` does not exist; the columns are a, b, y\n  \
         the column to drop `zz` does not exist; the columns are a, b, y\n  \
         the column of categories 9 does not exist; columns are counted from 0 to 2\n  \
         column 1 (`a`) is two of target, categories and dropped; name it in one of these only (the target is a number)"
    );
    assert_eq!(
        error(Some("z"), &["a", "b"], &[]),
        "file.csv: the columns that are named have 2 mistakes:\n  \
         the target column `z` does not exist; the columns are a, b, y\n  no input is left; drop fewer columns"
    );

    let rows: String = (0..1001).map(|i| format!("name{i},{i}\n")).collect();
    let categories = words(&["0"]);
    let error = error_with(
        "file.csv",
        rows,
        ReadOptions { categories, header: Some(false), ..ReadOptions::default() },
    );
    assert!(error.starts_with("file.csv:1001:1: column 1 has more than 1000 categories; drop it"), "{error}");
}

#[test]
fn headers() {
    assert_eq!(
        csv_error("a,b,a,y\n1,2,3,4\n"),
        "file.csv:1:3: column 1 is called `a` too; give each column a different name"
    );
}

#[test]
fn encodings() {
    assert_eq!(
        error_of("file.csv", b"gr\xf6sse,y\n1,2\n3,4\n", None),
        "file.csv:1:1: the text is not UTF-8; save the file as UTF-8"
    );
    assert!(
        error_of("file.csv", b"a,y\n1,2\n3,\xff\n", None).starts_with("file.csv:3:2: the text is not UTF-8")
    );
    for mark in ["\u{feff}", ""] {
        let utf16: Vec<u8> = format!("{mark}a,y\n1,2\n").encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(
            error_of("file.csv", utf16, None),
            "file.csv: this is text in UTF-16 or UTF-32, and no table of text; save it as UTF-8"
        );
    }
}

#[test]
fn damaged_archives() {
    assert_eq!(
        error_of("file.csv.gz", "1,2\n3,4\n", None),
        "file.csv.gz: cannot be decompressed: it does not begin as a gzip file does; \
         the file is damaged or incomplete; download or copy it again"
    );
    let rows: String = (0..2_000).map(|i| format!("{i},{}\n", i * i)).collect();
    let mut cut = gzip(&rows);
    cut.truncate(cut.len() / 2);
    let error = error_of("file.csv.gz", cut, None);
    assert!(error.contains("cannot be decompressed") && error.contains("copy it again"), "{error}");
    let mut flipped = gzip(&rows);
    let last = flipped.len() - 6;
    flipped[last] ^= 1;
    let error = error_of("file.csv.gz", flipped, None);
    assert!(error.contains("cannot be decompressed"), "{error}");
}

#[test]
fn missing_files() {
    let path = PathBuf::from("/nowhere/file.csv");
    let error = import(&ImportSource::File { path: &path, options: &ReadOptions::default() })
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("/nowhere/file.csv: cannot be read: No such file"), "{error}");
    assert!(error.ends_with("; check the path and its permissions"), "{error}");
}

/// The error for a folder with these data and masks.
fn folder_error(data: &str, masks: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data.csv.gz"), gzip(data)).unwrap();
    fs::write(folder.path().join("test_mask.csv.gz"), gzip(masks)).unwrap();
    let error =
        import(&ImportSource::File { path: folder.path(), options: &ReadOptions::default() }).unwrap_err();
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn folders_of_a_collection() {
    let data = "1,2\n3,4\n5,6\n";
    assert_eq!(
        folder_error(data, "0\n1\n"),
        "test_mask.csv.gz: the file has 2 rows, but data.csv.gz has 3; download both files again from one source"
    );
    assert_eq!(
        folder_error(data, "0,1\n1,0\n0,2\n"),
        "test_mask.csv.gz:3:2: a test mask may hold 0 and 1 only, not 2; download the file again"
    );
    assert!(
        folder_error("a,2\n1,3\n", "0\n").starts_with("data.csv.gz:1:1: `a` in column 1 is not a number")
    );
}

#[test]
fn other_folders() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("part-0.parquet"), "PAR1").unwrap();
    let origin = ImportSource::File { path: folder.path(), options: &ReadOptions::default() };
    let error = import(&origin).unwrap_err().to_string();
    assert!(
        error.contains(": the folder has no data.csv.gz; give a CSV or Parquet file, or a folder with"),
        "{error}"
    );
}

#[test]
fn parquet() {
    assert!(error_of("file.parquet", "PAR1 and then nothing", None).contains("cannot be read as Parquet"));
    let header = ReadOptions { header: Some(true), ..ReadOptions::default() };
    let error = error_with("file.parquet", "PAR1", header);
    assert!(error.contains("a Parquet file has no separator, header"), "{error}");
}
