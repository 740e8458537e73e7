//! JSON lines with checksums, in files that only grow.

use std::fs::File;
use std::io::{self, Write as _};

use gpbench_files::checksum::{self, LineChecker};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A line with its checksum and its line feed.
pub(crate) fn seal(object: &impl Serialize) -> Vec<u8> {
    let text = serde_json::to_vec(object).expect("plain data with text keys always serialises");
    let mut line = checksum::seal(&text);
    line.push(b'\n');
    line
}

/// Appends a line to a file of so many bytes, and waits until it is on the disk. What was written of a line that cannot be
/// written is removed.
pub(crate) fn append(file: &mut File, length: &mut u64, line: &[u8]) -> io::Result<()> {
    let written = file.write_all(line).and_then(|()| file.sync_data());
    match written {
        Ok(()) => *length += line.len() as u64,
        // If this fails too, readers skip the line.
        Err(_) => drop(file.set_len(*length)),
    }
    written
}

/// The number of bytes of complete lines.
pub(crate) fn complete(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1)
}

/// The lines that are not empty, without their line feeds.
pub(crate) fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

/// Reads a line.
pub(crate) fn parse<T: DeserializeOwned>(checker: &mut LineChecker, line: &[u8]) -> Result<T, String> {
    checker.check(line).map_err(|damage| damage.to_string())?;
    serde_json::from_slice(line).map_err(|error| error.to_string())
}
