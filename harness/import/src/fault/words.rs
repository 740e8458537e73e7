//! Parts of messages that depend on the fault.

use std::io;

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
