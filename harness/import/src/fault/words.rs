//! Parts of messages that depend on the fault.

use std::io;
use std::path::Path;

use gpbench_data::copy::CopyError;

use super::FileFault;
use crate::error::Role;

pub(super) fn hint(separator: Option<char>) -> String {
    match separator {
        Some('\t') => " (it seems to use tabs: set `separator` to `tab`)".to_owned(),
        Some(separator) => format!(" (it seems to use `{separator}`: set `separator`)"),
        None => String::new(),
    }
}

/// What helps against comments that begin with `mark`.
pub(super) fn comment(mark: &str) -> String {
    match mark {
        "#" | "%" | "!" | "//" => format!("set `comment` to `{}`, or remove such lines", &mark[..1]),
        _ => "remove comment lines from the file".to_owned(),
    }
}

pub(super) fn trailing(first: Option<u64>) -> String {
    match first {
        Some(first) => format!("line {first} ends with a separator, this line does not"),
        None => "the line ends with a separator, and the first line does not".to_owned(),
    }
}

/// What helps where a copy cannot be written.
pub(super) fn room(error: &CopyError) -> &'static str {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    match error {
        CopyError::Io { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded) => {
            "free space on this disk, or set GPBENCH_CACHE to a folder on another one"
        }
        _ => "set GPBENCH_CACHE to a folder that can be written",
    }
}

/// The options that read a Parquet column of a type that holds no numbers.
pub(super) fn options_of(kind: &str) -> &'static str {
    if matches!(kind, "text" | "category") { "`categories` or in `drop`" } else { "`drop`" }
}

pub(super) fn others(columns: usize) -> String {
    match columns {
        0 => String::new(),
        1 => "\n  and one more column".to_owned(),
        more => format!("\n  and {more} more columns"),
    }
}

pub(super) fn suggestion(role: Role, nearest: Option<&str>, columns: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if columns.is_empty() => {
            let what = if role == Role::Target { "the target" } else { "the column" };
            format!("the file has no header: give {what} as a number counted from 0")
        }
        None => format!("the columns are {}", columns.join(", ")),
    }
}

/// Faults, one on each line.
pub(super) fn told(faults: &[FileFault]) -> String {
    let told: Vec<String> = faults.iter().map(FileFault::to_string).collect();
    told.join("\n  ")
}

/// What is wrong with a file of test rows that lacks columns of the file of training rows `other`.
pub(super) fn lacking(missing: &[String], lacks_target: bool, other: &Path) -> String {
    let named: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let (noun, them) = if named.len() == 1 { ("column", "it") } else { ("columns", "them") };
    let target =
        if lacks_target { "; test rows need their targets, which predictions are compared with" } else { "" };
    let drop = if lacks_target && missing.len() == 1 { "" } else { ", or drop inputs by `drop`" };
    format!(
        "the file lacks the {noun} {} of {}; columns are matched by name: add {them}{drop}{target}",
        named.join(", "),
        other.display()
    )
}

/// What is wrong with a file of test rows where it or the file of training rows `other` alone has a header.
pub(super) fn header_of_one(has_header: bool, other: &Path) -> String {
    let (own, others) = if has_header { ("has a header", "has none") } else { ("has no header", "has one") };
    format!(
        "the file {own}, {} {others}; columns are matched by name: give both files a header, or set `header`",
        other.display()
    )
}
