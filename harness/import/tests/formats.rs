//! A file that is no table of numbers gets an error that says what it is and what to do.

use std::fs;
use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use gpbench_import::{ImportSource, import};
use gpbench_record::ReadOptions;

fn error_with(name: &str, content: &[u8], options: &ReadOptions) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let error = import(&ImportSource::File { path: &path, options }).unwrap_err().to_string();
    error.replace(&format!("{}/", folder.path().display()), "")
}

fn error_of(name: &str, content: impl AsRef<[u8]>) -> String {
    error_with(name, content.as_ref(), &ReadOptions::default())
}

fn separated_by(separator: char) -> ReadOptions {
    ReadOptions { separator: Some(separator), ..ReadOptions::default() }
}

#[test]
fn other_formats_are_named() {
    let zip = |name: &str| [b"PK\x03\x04\x14\0\0\0\0\0 ".as_slice(), name.as_bytes(), b"\0\x01\x02"].concat();
    let tar = [b"a.csv".as_slice(), &[0; 252], b"ustar\x0000", &[0; 200]].concat();
    let cases: [(&str, Vec<u8>, &str); 22] = [
        (
            "a.xlsx",
            zip("xl/workbook.xml"),
            "an Excel workbook, and no table of text; save the sheet as CSV in UTF-8",
        ),
        ("a.xlsx", zip("[Content_Types].xml"), "an Excel workbook"),
        (
            "a.ods",
            zip("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"),
            "an OpenDocument spreadsheet",
        ),
        ("a.npz", zip("x.npy"), "an archive of NumPy arrays"),
        ("a.zip", zip("a.csv"), "a zip archive"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(), "an Excel workbook of the old kind"),
        (
            "a.csv.bz2",
            b"BZh91AY&SY\x01\x02".to_vec(),
            "compressed by bzip2, and no table of text; unpack it (`bunzip2`)",
        ),
        ("a.csv.xz", b"\xfd7zXZ\0\0\x04".to_vec(), "compressed by xz"),
        ("a.csv.zst", b"\x28\xb5\x2f\xfd\x04".to_vec(), "compressed by zstd"),
        ("a.tar", tar.clone(), "a tar archive"),
        ("a.tar.gz", gzip(&tar), "a tar archive"),
        ("a.csv.gz", gzip(&gzip(b"1,2\n3,4\n")), "compressed by gzip twice"),
        ("a.h5", b"\x89HDF\r\n\x1a\n\0".to_vec(), "an HDF5 file"),
        ("a.npy", b"\x93NUMPY\x01\0v\0{'descr'".to_vec(), "a NumPy array"),
        ("a.feather", b"ARROW1\0\0\xff\xff".to_vec(), "an Arrow (Feather) file"),
        ("a.jsonl", b"{\"a\":1,\"y\":2}\n{\"a\":2,\"y\":3}\n".to_vec(), "a file of JSON lines"),
        ("a.json", b"{\n \"a\": [1, 2]\n}\n".to_vec(), "a JSON document"),
        ("a.json", b"[{\"a\": 1}]".to_vec(), "a JSON document"),
        (
            "a.arff",
            b"% of 1990\n\n@RELATION x\n@attribute a real\n@data\n1,2\n".to_vec(),
            "an ARFF file (Weka)",
        ),
        ("a.csv", b"<!DOCTYPE html>\n<html>404</html>".to_vec(), "a web page (HTML)"),
        ("a.svm", b"1.5 1:0.5 3:2\n2 1:1 2:7\n".to_vec(), "a sparse table (LIBSVM)"),
        ("a.csv", b"# mine\nschema = 1\n".to_vec(), "a spec, and no table of text; run it by `gpbench run`"),
    ];
    for (name, content, what) in cases {
        let error = error_of(name, &content);
        assert!(error.starts_with(&format!("{name}: this is {what}")), "{error}");
    }
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn pointers_in_place_of_files_are_named_whatever_the_name() {
    let lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    for name in ["a.csv", "a.csv.gz", "a.parquet"] {
        assert_eq!(
            error_of(name, lfs),
            format!(
                "{name}: this is a pointer of Git LFS in place of the data, and no table of text; fetch them by `git lfs pull`"
            )
        );
    }
    let annex = error_of("a.csv", "/annex/objects/SHA256E-s12--4d7a.csv\n");
    assert!(annex.contains("a pointer of git-annex"), "{annex}");
}

#[test]
fn ends_of_lines() {
    let old = "a.csv: lines end with a carriage return alone, as programs of old Macs write them; convert the file: \
               `tr '\\r' '\\n' < FILE > NEW`";
    assert_eq!(error_of("a.csv", "x,y\r1,2\r3,4\r"), old);
    assert_eq!(error_of("a.csv", "1,2\r3,4"), old);
    assert!(error_of("a.csv", "x,y\n1,2\r3,4\n").starts_with("a.csv:2:3: lines end with a carriage return"));
    assert!(
        error_of("a.csv", "x,y\n1,2\n3,4\r5,6\n").starts_with("a.csv:3:3: lines end with a carriage return")
    );
}

#[test]
fn comments() {
    let comment = |line: usize, mark: &str| {
        format!(
            "a.csv:{line}: the line begins with `{mark}`, as comments do; set `comment` to `{}`, or remove such lines",
            &mark[..1]
        )
    };
    assert_eq!(error_of("a.csv", "# made by me\nx,y\n1,2\n3,4\n"), comment(1, "#"));
    assert_eq!(error_of("a.csv", "# by me, here\nx,y\n1,2\n3,4\n"), comment(1, "#"));
    assert_eq!(error_of("a.csv", "% a, b, c\nx,y\n1,2\n3,4\n"), comment(1, "%"));
    assert_eq!(error_of("a.csv", "x,y\n1,2\n# the end\n3,4\n"), comment(3, "#"));
    assert_eq!(error_of("a.csv", "x,y\n1,2\n# so, so\n3,4\n"), comment(3, "#"));
    assert_eq!(error_of("a.csv", "x,y\n// units\n3,4\n"), comment(2, "//"));
    // A header may begin so; what is wrong below it is something else.
    assert!(error_of("a.csv", "#x,y\n1,z\n").contains("`z` in column 2 (`y`) is not a number"));
    assert!(error_of("a.csv", "#x,y\n1,2\nz,2\n").contains("`z` in column 1 (`#x`) is not a number"));
    assert!(error_of("a.csv", "x,y\n1,2\n--1,2\n").contains("`--1` in column 1"));
}

#[test]
fn separators_at_the_ends_of_lines() {
    let all = "the lines end with a separator, so that a last column 3 is empty; remove the separators at the ends of lines, \
               or drop this column (`drop`: 2)";
    assert_eq!(error_of("a.csv", "x,y,\n1,2,\n3,4,\n"), format!("a.csv:2:3: {all}"));
    assert_eq!(error_of("a.csv", "1,2,\n3,4,\n"), format!("a.csv:1:3: {all}"));
    assert!(error_with("a.csv", b"x;y;\n1;2;\n3;4;\n", &separated_by(';')).ends_with(all));
    assert_eq!(
        error_of("a.csv", "x,y\n1,2,\n3,4,\n"),
        "a.csv:2:3: the line ends with a separator, and the first line does not; remove the separators at the ends of lines"
    );
    assert_eq!(
        error_of("a.csv", "x,y,\n1,2\n3,4\n"),
        "a.csv:2:3: line 1 ends with a separator, this line does not; remove the separators at the ends of lines"
    );
    let r = error_of("a.csv", "x,y\nfirst,1,2\nsecond,3,4\n");
    assert!(
        r.contains("the line has 3 cells, the header has one less; where the first cells are row labels"),
        "{r}"
    );
    // Named columns and later rows have empty cells.
    assert!(error_of("a.csv", "x,y,z\n1,2,\n3,4,\n").contains("column 3 (`z`) is empty here"));
    assert!(error_of("a.csv", "1,2,3\n3,4,\n").contains("column 3 is empty here"));
}

#[test]
fn blanks_between_columns() {
    let aligned = "the columns are aligned by blanks, and cells are separated by one character; convert the file: \
                   `awk '{$1=$1; print}' OFS=, FILE > NEW`";
    for content in [" 1.0   2.0  3\n 4.0  15.0  6\n", "x     y\n1     2\n10    20\n", "1\t\t2\n10\t20\n"] {
        assert_eq!(error_of("a.csv", content), format!("a.csv:1: {aligned}"), "{content:?}");
    }
    let error = error_with("a.csv", b" 1.0   2.0  3\n 4.0  15.0  6\n", &separated_by(' '));
    assert!(error.contains(aligned), "{error}");
    // A separator that is proposed reads the file.
    for content in
        ["1 2 3\n4 5 6.5\n", "x y\n1 2\n3 4\n", "1\t2\n3\t4\n", "1,5;2\n3,5;4\n", "x|y\n1|2\n3|4\n"]
    {
        let error = error_of("a.csv", content);
        let is_proposed = error.contains("set `separator`");
        assert!(is_proposed && !error.contains("aligned"), "{content:?}: {error}");
    }
    assert!(error_of("a.csv", "sep=;\nx;y\n1;2\n").contains("remove it, and set `separator` to `;`"));
}

#[test]
fn cells_that_are_nearly_numbers() {
    let of_cell =
        |cell: &str| error_with("a.csv", format!("x;y\n{cell};1\n2;3\n").as_bytes(), &separated_by(';'));
    for cell in ["1,5", "-0,25", "1,234.5", "1.234,5", "1,234,567", "1,5e3"] {
        let error = of_cell(cell);
        assert_eq!(
            error,
            format!(
                "a.csv:2:1: `{cell}` in column 1 (`x`) has a comma; write numbers with a decimal point, and without \
                 separators of thousands, or set `decimal` to `,`"
            )
        );
    }
    for cell in ["2020-13-31", "12/31/2020", "31/12/20", "25:30", "2020-01-31T12:30:61Z"] {
        let error = of_cell(cell);
        assert!(
            error.contains(&format!(
                "`{cell}` in column 1 (`x`) looks like a date or a time that cannot be read; write 2020"
            )),
            "{error}"
        );
    }
    for cell in ["1.2.3", "5 kg", "-", "e5", "1-2"] {
        assert!(!of_cell(cell).contains("date") && !of_cell(cell).contains("comma"), "{cell}");
    }
    let error = error_of("a.csv", "1,5;2\n3,5;4\n");
    assert!(error.contains("`5;4` in column 2 (`5;2`) holds `;`, which seems to separate cells"), "{error}");
}

#[test]
fn values_that_are_read_otherwise_than_written_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, "c,x,y\nred,1e-400,1\n?,0e-400,2\n?,0,4\n").unwrap();
    let options = ReadOptions { categories: vec!["c".to_owned()], ..ReadOptions::default() };
    let error = import(&ImportSource::File { path: &path, options: &options }).unwrap();
    assert_eq!(
        error.warnings[..2],
        [
            "line 2: 1e-400 in column 2 (`x`) is read as 0: it is smaller than any number of double precision",
            "`?` in column 1 (`c`) marks a missing value and is read as a category of its own; remove its rows if that \
             is not meant",
        ]
    );
}

#[test]
fn columns_that_hardly_vary() {
    assert_eq!(
        error_of("a.csv", "x,y\n1,0.3\n2,0.30000000000000004\n"),
        "a.csv: the target, column 2 (`y`), is 0.3 in every row; choose another target column"
    );
    for content in ["x,y\n1e-300,1\n2e-300,2\n", "y,x\n1,1e-300\n2,2e-300\n"] {
        let error = error_of("a.csv", content);
        assert!(error.contains("(`x`) differ by less than 1e-290, too little to be scaled"), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let options = ReadOptions::default();
    fs::write(&path, "a,b,c,y\n0.3,1,1e9,1e-170\n0.30000000000000004,2,1000000000.1,3e-170\n").unwrap();
    let table = import(&ImportSource::File { path: &path, options: &options }).unwrap();
    assert_eq!(table.warnings.len(), 2);
    assert_eq!(
        table.warnings[0],
        "column 1 (`a`) is 0.3 in every row, up to rounding; it is used, but carries no information"
    );
    assert!(
        table.warnings[1].starts_with("column 3 (`c`) varies by less than 1e-9 of its values"),
        "{:?}",
        table.warnings
    );
}
