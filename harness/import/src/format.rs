//! Formats that are no table of text, by the beginning of a file: an error that names the format says more than one about the
//! first cell that is no number.

use thiserror::Error;

/// Bytes of a file that are looked at.
pub(crate) const FORMAT_BYTES: usize = 4096;

/// A format that is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("this is {what}, and no table of text; {advice}")]
pub struct OtherFormat {
    /// Its name, with an article.
    pub what: &'static str,
    /// What to do.
    pub advice: &'static str,
}

const UNPACK: &str = "unpack it, and give the table in it (gzip alone is read as it is)";
const SAVE_AS_CSV: &str = "save it as CSV or Parquet";
const SAVE_SHEET: &str = "save the sheet as CSV in UTF-8";
const SAVE_AS_UTF8: &str = "save it as UTF-8";
const IS_JSON: &str =
    "save it as CSV or Parquet, one line per row (pandas: `read_json`, then `to_csv(index=False)`)";

/// Formats whose first bytes are fixed.
const MAGIC: [(&[u8], &str, &str); 27] = [
    (b"PK\x05\x06", "an empty zip archive", "pack it again"),
    (b"\xfd7zXZ\0", "compressed by xz", "unpack it (`unxz`), or compress it by gzip"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "unpack it (`unzstd`), or compress it by gzip"),
    (b"\x04\x22\x4d\x18", "compressed by lz4", "unpack it (`unlz4`), or compress it by gzip"),
    (b"\x1f\x9d", "compressed by compress", "unpack it (`uncompress`), or compress it by gzip"),
    (b"\x1f\x8b", "compressed by gzip twice", "unpack it once (`gunzip`)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-zip archive", UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook of the old kind, or another Office document", SAVE_SHEET),
    (b"\x89HDF", "an HDF5 file", SAVE_AS_CSV),
    (b"CDF\x01", "a NetCDF file", SAVE_AS_CSV),
    (b"CDF\x02", "a NetCDF file", SAVE_AS_CSV),
    (b"\x93NUMPY", "a NumPy array", "save it by `numpy.savetxt(file, array, delimiter=\",\")`"),
    (b"\x80\x03", "a Python pickle", SAVE_AS_CSV),
    (b"\x80\x04", "a Python pickle", SAVE_AS_CSV),
    (b"\x80\x05", "a Python pickle", SAVE_AS_CSV),
    (b"ARROW1", "an Arrow (Feather) file", SAVE_AS_CSV),
    (b"FEA1", "a Feather file", SAVE_AS_CSV),
    (b"ORC", "an ORC file", SAVE_AS_CSV),
    (b"Obj\x01", "an Avro file", SAVE_AS_CSV),
    (b"PARE", "an encrypted Parquet file", "write it without encryption"),
    (b"SQLite format 3\0", "an SQLite database", "save its table as CSV"),
    (b"MATLAB 5.0", "a MATLAB file", SAVE_AS_CSV),
    (b"%PDF", "a PDF document", "download the data themselves"),
    (b"X\n\0\0", "an R data file", "save it by `write.csv(data, file, row.names = FALSE)`"),
    (b"RDX", "an R data file", "save it by `write.csv(data, file, row.names = FALSE)`"),
    (b"\x89PNG", "a picture", "download the data themselves"),
];

/// The format of a file by its first bytes, decompressed, where it is not a table of text.
pub(crate) fn other_format(head: &[u8]) -> Option<OtherFormat> {
    let head = &head[..head.len().min(FORMAT_BYTES)];
    let format = |what, advice| Some(OtherFormat { what, advice });
    if let Some((_, what, advice)) = MAGIC.iter().find(|(magic, ..)| head.starts_with(magic)) {
        // Three letters may begin a header.
        let is_text = head.iter().take(16).all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
        let is_certain = !is_text || head.starts_with(b"%PDF") || head.starts_with(b"MATLAB 5.0");
        return is_certain.then_some(OtherFormat { what, advice });
    }
    if head.starts_with(b"PK\x03\x04") {
        return Some(zip(head));
    }
    if head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY") {
        return format("compressed by bzip2", "unpack it (`bunzip2`), or compress it by gzip");
    }
    if head.get(257..262) == Some(b"ustar") {
        return format("a tar archive", UNPACK);
    }
    if is_utf16(head) {
        return format("text in UTF-16 or UTF-32", SAVE_AS_UTF8);
    }
    if head.contains(&0) && is_invalid(head) {
        return format("a binary file of an unknown format", SAVE_AS_CSV);
    }
    markup(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head))
}

/// What a zip archive is by the names of its first files.
fn zip(head: &[u8]) -> OtherFormat {
    let (what, advice) = if holds(head, b"xl/") || holds(head, b"[Content_Types].xml") {
        ("an Excel workbook", SAVE_SHEET)
    } else if holds(head, b"opendocument.spreadsheet") {
        ("an OpenDocument spreadsheet", SAVE_SHEET)
    } else if holds(head, b".npy") {
        ("an archive of NumPy arrays", "save one by `numpy.savetxt(file, array, delimiter=\",\")`")
    } else {
        ("a zip archive", UNPACK)
    };
    OtherFormat { what, advice }
}

fn holds(head: &[u8], part: &[u8]) -> bool {
    head.windows(part.len()).any(|window| window == part)
}

/// Whether text has two or four bytes a character: it begins with a mark, or every second byte is zero.
fn is_utf16(head: &[u8]) -> bool {
    let marked =
        head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") || head.starts_with(b"\0\0\xfe\xff");
    let zero =
        |first: usize| head.len() >= 4 && head.iter().skip(first).step_by(2).take(32).all(|byte| *byte == 0);
    let text = |first: usize| head.iter().skip(first).step_by(2).take(32).all(|byte| *byte != 0);
    marked || (zero(1) && text(0)) || (zero(0) && text(1))
}

/// Whether bytes are not UTF-8; a character may be cut at the end.
fn is_invalid(head: &[u8]) -> bool {
    std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some())
}

/// Formats of text that are no tables.
fn markup(head: &[u8]) -> Option<OtherFormat> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start();
    let lower = text.to_ascii_lowercase();
    let begins = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    let format = |what, advice| Some(OtherFormat { what, advice });
    if begins(&["version https://git-lfs.github.com/spec/"]) {
        return format("a pointer of Git LFS in place of the data", "fetch them by `git lfs pull`");
    }
    if text.lines().next().is_some_and(|line| line.contains("annex/objects/")) {
        return format("a pointer of git-annex in place of the data", "fetch them by `git annex get`");
    }
    if begins(&["<!doctype html", "<html", "<head", "<body"]) {
        let advice = "download the file itself: a server may send such a page in place of a file";
        return format("a web page (HTML)", advice);
    }
    if begins(&["<?xml", "<!--", "<!doctype"]) {
        return format("an XML document", SAVE_AS_CSV);
    }
    let then = text.get(1..).unwrap_or_default().trim_start().chars().next();
    if text.starts_with('{') && matches!(then, Some('"' | '}')) {
        let is_line = text.lines().next().is_some_and(|line| line.trim_end().ends_with('}'));
        return format(if is_line { "a file of JSON lines" } else { "a JSON document" }, IS_JSON);
    }
    if text.starts_with('[') && matches!(then, Some('{' | '[' | '"' | '0'..='9' | '-' | ']')) {
        return format("a JSON document", IS_JSON);
    }
    let lines = || text.lines().map(str::trim_start).filter(|line| !line.is_empty());
    let first = lines().find(|line| !line.starts_with('%')).unwrap_or_default().to_ascii_lowercase();
    if first.starts_with("@relation") || first.starts_with("@attribute") {
        let advice = "save it as CSV: the lines after `@data` under a line with the names of the columns";
        return format("an ARFF file (Weka)", advice);
    }
    let first = lines().find(|line| !line.starts_with('#')).unwrap_or_default();
    let is_key = |key: &str| first.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='));
    if ["schema", "name", "task"].into_iter().any(is_key) || first.starts_with("[matrix]") {
        return format("a spec", "run it by `gpbench run`");
    }
    is_sparse(first).then_some(OtherFormat { what: "a sparse table (LIBSVM)", advice: SAVE_AS_CSV })
}

/// Whether a line is a number and several pairs of an index, which grows, and a value: `1.5 1:0.2 7:3`.
fn is_sparse(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let index = |word: &str| {
        let (index, value) = word.split_once(':')?;
        index.parse::<u64>().ok().filter(|_| is_number(value))
    };
    let begins = words.next().is_some_and(is_number);
    let indices: Option<Vec<u64>> = words.map(index).collect();
    begins
        && indices
            .is_some_and(|indices| indices.len() > 1 && indices.windows(2).all(|pair| pair[0] < pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_no_other_format() {
        let tables: [&[u8]; 14] = [
            b"a,b,y\n1,2,3\n",
            b"1,2\n",
            b"\xef\xbb\xbfa,y\n1,2\n",
            b"ORC_count,y\n1,2\n",
            b"BZh2,FEA1,y\n1,2,3\n",
            b"RDX,y\n1,2\n",
            b"name,task\n1,2\n",
            b"schema,y\n1,2\n",
            b"[kg],[m]\n1,2\n",
            b"{mass},y\n1,2\n",
            b"<10,y\n1,2\n",
            b"@x,y\n1,2\n",
            b"% a comment\n1,2\n",
            b"12:30,5\n12:31,6\n",
        ];
        for table in tables {
            assert_eq!(other_format(table), None, "{:?}", String::from_utf8_lossy(table));
        }
        assert_eq!(other_format(b""), None);
        assert_eq!(
            other_format(&[b"x,y\n", "ü".repeat(3000).as_bytes()].concat()),
            None,
            "a character is cut"
        );
    }
}
